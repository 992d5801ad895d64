// What decoding computes, one word a row: looking up what was written, choosing, and a whole decoder in one call.
#include "attention.h"
#include "decoding.h"
#include "int8.h"

namespace {

constexpr int SEVERAL = 4;  // sums at a time hide each other's latency

// Attention of one query a row to chosen rows of k and v: row r sees rows places[r, 0..K), those below 0 excepted.
// E is a multiple of 16. A row that sees nothing gets zeros.
void recall(i64 R, i64 K, i64 H, i64 E, const float* q, i64 ldq, const float* k, i64 ldk, const float* v, i64 ldv,
            const int32_t* places, float* out, i64 ldo) {
  const float scale = 1.0f / std::sqrt(float(E));
#pragma omp parallel
  {
    std::vector<int32_t> at(K);
    std::vector<float> w(up(K, 16));
    const Part part(R);
    for (i64 r = part.lo; r < part.hi; ++r) {
      i64 n = 0;
      for (i64 j = 0; j < K; ++j)
        if (places[r * K + j] >= 0) at[n++] = places[r * K + j];
      float* o = out + r * ldo;
      if (!n) {
        std::fill(o, o + H * E, 0.0f);
        continue;
      }
      const i64 ld = up(n, 16);
      for (i64 h = 0; h < H; ++h) {
        const float* qi = q + r * ldq + h * E;
        float* p = w.data();
        for (i64 j = 0; j < n; ++j) {
          const float* kj = k + at[j] * ldk + h * E;
          vec acc = {};
          for (i64 e = 0; e < E; e += WIDTH) acc += load(qi + e) * load(kj + e);
          p[j] = total(acc);
        }
        for (i64 j = n; j < ld; ++j) p[j] = -INFINITY;
        const float top = row_max(p, n);
        float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
        for (i64 j = 0; j < ld; ++j) {
          const float e = fast_exp((p[j] - top) * scale);
          p[j] = e;
          sum += e;
        }
        const float inv = 1.0f / sum;
        i64 e = 0;
        for (; e + SEVERAL * WIDTH <= E; e += SEVERAL * WIDTH) {
          vec acc[SEVERAL] = {};
          for (i64 j = 0; j < n; ++j) {
            const float* vj = v + at[j] * ldv + h * E + e;
            for (int l = 0; l < SEVERAL; ++l) acc[l] += p[j] * load(vj + WIDTH * l);
          }
          for (int l = 0; l < SEVERAL; ++l) store(o + h * E + e + WIDTH * l, acc[l] * inv);
        }
        for (; e < E; e += WIDTH) {
          vec acc = {};
          for (i64 j = 0; j < n; ++j) acc += p[j] * load(v + at[j] * ldv + h * E + e);
          store(o + h * E + e, acc * inv);
        }
      }
    }
  }
}

void add_bias(i64 n, i64 d, const float* bias, float* x, i64 ld) {
#pragma omp parallel for
  for (i64 i = 0; i < n; ++i) {
    float* o = x + i * ld;
#pragma omp simd
    for (i64 j = 0; j < d; ++j) o[j] += bias[j];
  }
}

void layer_norm(i64 n, i64 d, const float* x, const float* gamma, const float* beta, float eps, float* out, i64 ld) {
#pragma omp parallel for
  for (i64 i = 0; i < n; ++i) {
    float mean, rstd;
    measure_row(d, x + i * ld, eps, mean, rstd);
    norm_row(d, x + i * ld, gamma, beta, mean, rstd, out + i * ld);
  }
}

enum Activation : int { RELU, GELU, GELU_TANH };  // as decoder_step.py counts them

void activate(Activation kind, i64 d, const float* bias, float* x) {
  if (kind == RELU) {
#pragma omp simd
    for (i64 j = 0; j < d; ++j) x[j] = std::max(x[j] + bias[j], 0.0f);
  } else if (kind == GELU) {
#pragma omp simd
    for (i64 j = 0; j < d; ++j) x[j] = Gelu(x[j] + bias[j]).value;
  } else {  // z / (1 + exp(-2 u)) is z (1 + tanh u) / 2
#pragma omp simd
    for (i64 j = 0; j < d; ++j) {
      const float z = x[j] + bias[j], u = 0.79788456f * (z + 0.044715f * z * z * z);
      x[j] = z / (1.0f + fast_exp(std::min(-2.0f * u, 80.0f)));
    }
  }
}

// C[M, N] = first + x W, for x [M, K] in rows ldx apart
void multiply(const Linear& w, i64 M, i64 N, i64 K, const float* x, i64 ldx, First first, float* C, i64 ldc) {
  if (!w.scales) return product_shared(M, N, K, {x, ldx}, static_cast<const float*>(w.numbers), first, C, ldc);
  static thread_local Integers integers;
  const Quantised rows = integers.of(M, K, x, ldx);
  product8_shared(M, N, K, rows, static_cast<const uint8_t*>(w.numbers), w.scales, first, C, ldc);
}

// Rows of words through all layers and the norm at the end; rows of x lie wide(D) apart. attend(l, A, projected,
// context) lets queries, keys and values gather, look(l, A, queries, context) lets queries gather from a source, if a
// layer does: both from rows wide(3 D) apart to rows wide(D) apart. A is the width of all heads, at most D.
template <typename Attend, typename Look>
void pass(const Stack& stack, i64 R, float* x, Attend attend, Look look) {
  const i64 D = stack.D, F = stack.F, ld = wide(D), ldp = wide(3 * D), ldf = wide(F);
  const bool is_pre_norm = stack.is_pre_norm;
  const float eps = stack.epsilon;
  static thread_local std::vector<float> room;
  room.resize(std::max<i64>(room.size(), R * (2 * ld + ldp + ldf)));
  float *h = room.data(), *projected = h + R * ld, *context = projected + R * ldp, *inner = context + R * ld;
  for (i64 l = 0; l < stack.n_layers; ++l) {
    const Layer& w = stack.layers[l];
    const float* given = is_pre_norm ? h : x;
    if (is_pre_norm) layer_norm(R, D, x, w.norm1, w.shift1, eps, h, ld);
    const i64 own = stack.heads[2 * l] * stack.E, looking = stack.heads[2 * l + 1] * stack.E;
    multiply(w.qkv, R, 3 * own, D, given, ld, {w.qkv.bias}, projected, ldp);
    attend(l, own, projected, context);
    add_bias(R, D, w.out1.bias, x, ld);
    if (own) multiply(w.out1, R, D, own, context, ld, {x, ld}, x, ld);
    if (!is_pre_norm) layer_norm(R, D, x, w.norm1, w.shift1, eps, x, ld);

    if (w.query.numbers) {
      if (is_pre_norm) layer_norm(R, D, x, w.norm2, w.shift2, eps, h, ld);
      multiply(w.query, R, looking, D, given, ld, {w.query.bias}, projected, ldp);
      look(l, looking, projected, context);
      add_bias(R, D, w.out2.bias, x, ld);
      if (looking) multiply(w.out2, R, D, looking, context, ld, {x, ld}, x, ld);
      if (!is_pre_norm) layer_norm(R, D, x, w.norm2, w.shift2, eps, x, ld);
    }

    if (is_pre_norm) layer_norm(R, D, x, w.norm3, w.shift3, eps, h, ld);
    multiply(w.widen, R, F, D, given, ld, {}, inner, ldf);
#pragma omp parallel for
    for (i64 r = 0; r < R; ++r) activate(Activation(stack.activation), F, w.widen.bias, inner + r * ldf);
    add_bias(R, D, w.narrow.bias, x, ld);
    multiply(w.narrow, R, D, F, inner, ldf, {x, ld}, x, ld);
    if (!is_pre_norm) layer_norm(R, D, x, w.norm3, w.shift3, eps, x, ld);
  }
  if (stack.norm) layer_norm(R, D, x, stack.norm, stack.shift, eps, x, ld);
}

}  // namespace

extern "C" {

// W [N, K] as the products read it: room for up(N, 16) * K numbers.
void k_pack(i64 N, i64 K, const float* W, float* packed) {
#pragma omp parallel for
  for (i64 p = 0; p < panels(N); ++p) pack_panel_transposed(p, K, N, W, K, packed);
}

// W [N, K] as products of integers read it: room for k_int8_bytes(N, K), and for up(N, 16) scales.
void k_pack_int8(i64 N, i64 K, const float* W, uint8_t* packed, float* scales) { pack8(N, K, W, packed, scales); }

i64 k_int8_bytes(i64 N, i64 K) { return up(N, 16) * groups(K) * GROUP; }

// C [M, N] = bias + x W, for x [M, K] end to end
void k_multiply(const Linear* w, i64 M, i64 N, i64 K, const float* x, float* C) {
  multiply(*w, M, N, K, x, K, {w->bias}, C, N);
}

void k_decoder_step(const Stack* stack, i64 R, float* const* written, i64 first, const int32_t* places, i64 T,
                    const float* const* source, const int32_t* source_places, i64 S, const float* embedded,
                    float* logits) {
  const i64 D = stack->D, E = stack->E, V = stack->V, ld = wide(D), ldp = wide(3 * D);
  const auto attend = [=](i64 l, i64 A, const float* projected, float* context) {
    for (i64 r = 0; r < R; ++r)
      std::memcpy(written[l] + (first + r) * 2 * A, projected + r * ldp + A, 2 * A * sizeof(float));
    recall(R, T, A / E, E, projected, ldp, written[l], 2 * A, written[l] + A, 2 * A, places, context, ld);
  };
  const auto look = [=](i64 l, i64 A, const float* queries, float* context) {
    recall(R, S, A / E, E, queries, ldp, source[l], 2 * A, source[l] + A, 2 * A, source_places, context, ld);
  };
  const Floats x(R * ld);
  for (i64 r = 0; r < R; ++r) std::copy_n(embedded + r * D, D, x.data + r * ld);
  pass(*stack, R, x.data, attend, look);
  multiply(stack->output, R, V, D, x.data, ld, {stack->output.bias}, logits, V);
}

// B sentences end to end through an encoder, then each of n_kept projections to keys and values side by side, so many
// numbers wide: what a decoder's layers will look at. starts [B + 1]: where the sentences begin, and the end.
void k_read(const Stack* stack, const Words* words, i64 B, const i64* ids, const int32_t* starts, i64 n_kept,
            const i64* kept_widths, const Linear* memories, float* const* kept) {
  const i64 R = starts[B], D = stack->D, E = stack->E, H = D / E, ld = wide(D), ldp = wide(3 * D);
  const Floats x(R * ld);
  std::vector<i64> at(B);
  i64 room = 0;
  for (i64 b = 0; b < B; ++b) {
    const i64 n = starts[b + 1] - starts[b];
    at[b] = room, room += H * n * up(n, 16);
    for (i64 i = 0; i < n; ++i) embed(*words, D, ids[starts[b] + i], i, x.data + (starts[b] + i) * ld);
  }
  const Floats probabilities(room);
  const auto attend = [&](i64, i64 A, const float* q, float* context) {
    attend_all({B, A / E, E, starts, starts, at.data(), q, ldp, q + A, ldp, q + 2 * A, ldp, 0}, {0, 0, 0.0},
               probabilities.data, context, ld);
  };
  pass(*stack, R, x.data, attend, [](i64, i64, const float*, float*) {});
  for (i64 l = 0; l < n_kept; ++l)
    multiply(memories[l], R, kept_widths[l], D, x.data, ld, {memories[l].bias}, kept[l], kept_widths[l]);
}
}  // extern "C"
