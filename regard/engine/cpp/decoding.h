// What decoding reads of a decoder, and what it computes of each row of logits.
#pragma once
#include "tiles.h"

struct Linear {         // packed (k_pack), or, with scales, as integers (k_pack_int8)
  const void* numbers;  // null: there is none
  const float *scales, *bias;
};

struct Layer {  // as engine/frozen.py lists them
  const float *norm1, *shift1;
  Linear qkv, out1;
  const float *norm2, *shift2;
  Linear query, out2;
  const float *norm3, *shift3;
  Linear widen, narrow;
};

struct Stack {  // as decoder_step.py lists it
  i64 n_layers, D, F, E, V;  // E: the width of a head
  i64 is_pre_norm, activation;
  const Layer* layers;
  const i64* heads;  // of each layer: how many attend to the words themselves, and how many look at a source
  const float *norm, *shift;  // at the end of the stack, or null
  Linear output;
  float epsilon;
};

struct Words {  // what tokens become, as words.py lists it
  const float *table, *positions;  // positions may be null
  float scale;
  i64 packed;  // how many words the table has, where it is one of panels (k_pack); 0: row after row
};

extern "C" {

// One word a row through the decoder of a Transformer, or through GPT, which has no source (null). written[l] and
// source[l]: rows of keys and values side by side, of all heads there; the new words' go to rows first..first+R of the
// former.
void k_decoder_step(const Stack* stack, i64 R, float* const* written, i64 first, const int32_t* places, i64 T,
                    const float* const* source, const int32_t* source_places, i64 S, const float* embedded,
                    float* logits);
}

namespace {

inline void embed(const Words& words, i64 D, i64 token, i64 place, float* out) {
  const i64 first = token / PANEL * PANEL, step = words.packed ? std::min(PANEL, up(words.packed, 16) - first) : 1;
  const float* word = words.table + (words.packed ? first * D + token - first : token * D);
  const float* position = words.positions + place * D;
  if (words.positions)
    for (i64 d = 0; d < D; ++d) out[d] = word[d * step] * words.scale + position[d];
  else
    for (i64 d = 0; d < D; ++d) out[d] = word[d * step] * words.scale;
}

inline float log_sum_exp(i64 V, const float* r) {
  const float top = row_max(r, V);
  float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
  for (i64 j = 0; j < V; ++j) sum += fast_exp(r[j] - top);
  return top == -INFINITY ? top : top + std::log(sum);
}

// The k largest of a row, largest first, of equals the first; where it has fewer above -inf, -inf and 0.
inline void largest(i64 V, i64 k, const float* r, float* best, i64* id) {
  constexpr i64 LENGTH = 64;
  std::fill(best, best + k, -INFINITY);
  std::fill(id, id + k, 0);
  for (i64 j0 = 0; j0 < V; j0 += LENGTH) {
    const i64 end = std::min(j0 + LENGTH, V);
    if (!(row_max(r + j0, end - j0) > best[k - 1])) continue;  // most stretches hold nothing new
    for (i64 j = j0; j < end; ++j) {
      if (!(r[j] > best[k - 1])) continue;
      i64 at = k - 1;
      for (; at > 0 && r[j] > best[at - 1]; --at) best[at] = best[at - 1], id[at] = id[at - 1];
      best[at] = r[j];
      id[at] = j;
    }
  }
}

}  // namespace
