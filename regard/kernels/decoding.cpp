// What decoding computes, one word a row: looking up what was written, choosing, and a whole decoder in one call.
#include "base.h"

extern "C" {

// Attention of one query a row to chosen rows of k and v: row r sees rows places[r, 0..K), those below 0 excepted.
// E is a multiple of 16. A row that sees nothing gets zeros.
void k_recall(i64 R, i64 K, i64 H, i64 E, const float* q, i64 ldq, const float* k, i64 ldk, const float* v, i64 ldv,
              const int32_t* places, float* out) {
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
      float* o = out + r * H * E;
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
          v16 acc = {};
          for (i64 e = 0; e < E; e += 16)
            acc += *reinterpret_cast<const v16*>(qi + e) * *reinterpret_cast<const v16*>(kj + e);
          float dot = 0.0f;
          for (int l = 0; l < 16; ++l) dot += acc[l];
          p[j] = dot;
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
        for (; e + 64 <= E; e += 64) {  // four accumulators at a time hide the latency of the sums
          v16 acc[4] = {};
          for (i64 j = 0; j < n; ++j) {
            const v16* vj = reinterpret_cast<const v16*>(v + at[j] * ldv + h * E + e);
            for (int l = 0; l < 4; ++l) acc[l] += p[j] * vj[l];
          }
          for (int l = 0; l < 4; ++l) reinterpret_cast<v16*>(o + h * E + e)[l] = acc[l] * inv;
        }
        for (; e < E; e += 16) {
          v16 acc = {};
          for (i64 j = 0; j < n; ++j) acc += p[j] * *reinterpret_cast<const v16*>(v + at[j] * ldv + h * E + e);
          *reinterpret_cast<v16*>(o + h * E + e) = acc * inv;
        }
      }
    }
  }
}

// out[i] = log of the sum of exp over row i
void k_log_sum_exp(i64 n, i64 V, const float* x, float* out) {
#pragma omp parallel for
  for (i64 i = 0; i < n; ++i) {
    const float* r = x + i * V;
    const float top = row_max(r, V);
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (i64 j = 0; j < V; ++j) sum += fast_exp(r[j] - top);
    out[i] = top == -INFINITY ? top : top + std::log(sum);
  }
}

// The k largest of each row, largest first, of equals the first; where a row has fewer above -inf, -inf and 0.
void k_top(i64 n, i64 V, i64 k, const float* x, float* values, i64* ids) {
  constexpr i64 STRETCH = 64;
#pragma omp parallel for
  for (i64 i = 0; i < n; ++i) {
    const float* r = x + i * V;
    float* best = values + i * k;
    i64* id = ids + i * k;
    std::fill(best, best + k, -INFINITY);
    std::fill(id, id + k, 0);
    for (i64 j0 = 0; j0 < V; j0 += STRETCH) {
      const i64 end = std::min(j0 + STRETCH, V);
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
}

// BLAS' own matrix product, found in torch: column by column, every argument by address.
typedef void (*sgemm_t)(const char*, const char*, const int*, const int*, const int*, const float*, const float*,
                        const int*, const float*, const int*, const float*, float*, const int*);

}  // extern "C"

namespace {

struct Product {  // C[M,N] = beta C + A[M,K] B[K,N], row by row, which is Ct = Bt At column by column
  sgemm_t sgemm;
  void operator()(i64 M, i64 N, i64 K, const float* A, const float* B, float beta, float* C) const {
    const int m = int(M), n = int(N), k = int(K);
    const float one = 1.0f;
    sgemm("N", "N", &n, &m, &k, &one, B, &n, A, &k, &beta, C, &n);
  }
};

void spread(i64 n, i64 d, const float* bias, float* out) {  // every row starts as the bias
#pragma omp parallel for
  for (i64 i = 0; i < n; ++i) std::memcpy(out + i * d, bias, d * sizeof(float));
}

void add_bias(i64 n, i64 d, const float* bias, float* x) {
#pragma omp parallel for
  for (i64 i = 0; i < n; ++i) {
    float* o = x + i * d;
#pragma omp simd
    for (i64 j = 0; j < d; ++j) o[j] += bias[j];
  }
}

void layer_norm(i64 n, i64 d, const float* x, const float* gamma, const float* beta, float eps, float* out) {
#pragma omp parallel for
  for (i64 i = 0; i < n; ++i) {
    float mean, rstd;
    measure_row(d, x + i * d, eps, mean, rstd);
    norm_row(d, x + i * d, gamma, beta, mean, rstd, out + i * d);
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

struct Layer {  // as models/frozen.py lists them; weights lie with a row for each input
  const float *norm1, *shift1, *qkv, *qkv_bias, *out1, *out1_bias;
  const float *norm2, *shift2, *query, *query_bias, *out2, *out2_bias;
  const float *norm3, *shift3, *widen, *widen_bias, *narrow, *narrow_bias;
};

}  // namespace

extern "C" {

// One word a row through the decoder of a Transformer, or through GPT, which has no source (null). x [R,D]: the
// embedded words, overwritten. written[l] and source[l]: rows of keys and values side by side; the new words' go to
// rows first..first+R of the former.
void k_decoder_step(sgemm_t sgemm, i64 n_layers, i64 R, i64 D, i64 F, i64 H, i64 V, int is_pre_norm, int activation,
                    double epsilon, const Layer* layers, const float* norm, const float* shift, const float* output, float* const* written,
                    i64 first, const int32_t* places, i64 T, const float* const* source, const int32_t* source_places,
                    i64 S, float* x, float* logits) {
  const Product product{sgemm};
  const float eps = float(epsilon);
  static thread_local std::vector<float> room;
  room.resize(std::max<i64>(room.size(), R * (5 * D + F)));
  float *h = room.data(), *wide = h + R * D, *context = wide + R * 3 * D, *inner = context + R * D;
  for (i64 l = 0; l < n_layers; ++l) {
    const Layer& w = layers[l];
    const float* given = x;
    if (is_pre_norm) layer_norm(R, D, x, w.norm1, w.shift1, eps, h), given = h;
    spread(R, 3 * D, w.qkv_bias, wide);
    product(R, 3 * D, D, given, w.qkv, 1.0f, wide);
    for (i64 r = 0; r < R; ++r)
      std::memcpy(written[l] + (first + r) * 2 * D, wide + r * 3 * D + D, 2 * D * sizeof(float));
    k_recall(R, T, H, D / H, wide, 3 * D, written[l], 2 * D, written[l] + D, 2 * D, places, context);
    add_bias(R, D, w.out1_bias, x);
    product(R, D, D, context, w.out1, 1.0f, x);
    if (!is_pre_norm) layer_norm(R, D, x, w.norm1, w.shift1, eps, x);

    if (source) {
      if (is_pre_norm) layer_norm(R, D, x, w.norm2, w.shift2, eps, h);
      spread(R, D, w.query_bias, wide);
      product(R, D, D, given, w.query, 1.0f, wide);
      k_recall(R, S, H, D / H, wide, D, source[l], 2 * D, source[l] + D, 2 * D, source_places, context);
      add_bias(R, D, w.out2_bias, x);
      product(R, D, D, context, w.out2, 1.0f, x);
      if (!is_pre_norm) layer_norm(R, D, x, w.norm2, w.shift2, eps, x);
    }

    if (is_pre_norm) layer_norm(R, D, x, w.norm3, w.shift3, eps, h);
    product(R, F, D, given, w.widen, 0.0f, inner);
#pragma omp parallel for
    for (i64 r = 0; r < R; ++r) activate(Activation(activation), F, w.widen_bias, inner + r * F);
    add_bias(R, D, w.narrow_bias, x);
    product(R, D, F, inner, w.narrow, 1.0f, x);
    if (!is_pre_norm) layer_norm(R, D, x, w.norm3, w.shift3, eps, x);
  }
  if (norm) layer_norm(R, D, x, norm, shift, eps, x);
  product(R, V, D, x, output, 0.0f, logits);
}
}  // extern "C"
