// Bahdanau's energies vᵀ tanh(q + k) of every pair, and their gradients: no tanh is kept, it is computed again.
#include "base.h"

namespace {

inline float fast_tanh(float x) {
  const float e = fast_exp(-2.0f * std::fabs(x));
  return std::copysign((1.0f - e) / (1.0f + e), x);
}

}  // namespace

extern "C" {

// out [B, Q, K] of query [B, Q, M], key [B, K, M] and v [M]
void k_energies(i64 B, i64 Q, i64 K, i64 M, const float* query, const float* key, const float* v, float* out) {
#pragma omp parallel for schedule(static)
  for (i64 b = 0; b < B; ++b)
    for (i64 i = 0; i < Q; ++i)
      for (i64 c = 0; c < K; ++c) {
        const float *q = query + (b * Q + i) * M, *k = key + (b * K + c) * M;
        float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
        for (i64 j = 0; j < M; ++j) sum += v[j] * fast_tanh(q[j] + k[j]);
        out[(b * Q + i) * K + c] = sum;
      }
}

// All three gradients, written, from that of out
void k_energies_grad(i64 B, i64 Q, i64 K, i64 M, const float* query, const float* key, const float* v,
                     const float* d_out, float* d_query, float* d_key, float* d_v) {
  const int threads = omp_get_max_threads();
  std::vector<float> partial(threads * M, 0.0f);
#pragma omp parallel num_threads(threads)
  {
    const Part part(B);
    float* dv = partial.data() + part.id * M;
    for (i64 b = part.lo; b < part.hi; ++b)
      for (i64 i = 0; i < Q; ++i) {
        const float *q = query + (b * Q + i) * M, *grads = d_out + (b * Q + i) * K;
        float* dq = d_query + (b * Q + i) * M;
        std::fill(dq, dq + M, 0.0f);
        for (i64 c = 0; c < K; ++c) {
          const float *k = key + (b * K + c) * M, g = grads[c];
          float* dk = d_key + (b * K + c) * M;
          const bool is_first = i == 0;
#pragma omp simd
          for (i64 j = 0; j < M; ++j) {
            const float t = fast_tanh(q[j] + k[j]), d = g * v[j] * (1.0f - t * t);
            dv[j] += g * t;
            dq[j] += d;
            dk[j] = is_first ? d : dk[j] + d;
          }
        }
      }
  }
  reduce(partial, threads, M, d_v);
}

}  // extern "C"
