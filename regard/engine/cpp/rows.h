// What layers do row by row, forward and back.
#pragma once
#include "base.h"

namespace {

// out = the gradient of what was normed (+ more, where given), and those of gamma and beta
inline void norm_row_back(i64 d, const float* g, const float* x, const float* gamma, float mean, float rstd, const float* more,
                   float* out, float* dgamma, float* dbeta) {
  float c1 = 0.0f, c2 = 0.0f;
#pragma omp simd reduction(+ : c1, c2)
  for (i64 j = 0; j < d; ++j) {
    const float xh = (x[j] - mean) * rstd, gg = g[j] * gamma[j];
    c1 += gg;
    c2 += gg * xh;
    dgamma[j] += g[j] * xh;
    dbeta[j] += g[j];
  }
  c1 /= d, c2 /= d;
  if (more) {
#pragma omp simd
    for (i64 j = 0; j < d; ++j) out[j] = rstd * (g[j] * gamma[j] - c1 - (x[j] - mean) * rstd * c2) + more[j];
  } else {
#pragma omp simd
    for (i64 j = 0; j < d; ++j) out[j] = rstd * (g[j] * gamma[j] - c1 - (x[j] - mean) * rstd * c2);
  }
}

inline void add_row(i64 d, const float* x, const float* change, const Drop& drop, i64 row, float* factor, float* out) {
  if (drop.thr) {
    drop.row(row, d, factor);
#pragma omp simd
    for (i64 j = 0; j < d; ++j) out[j] = x[j] + change[j] * factor[j];
  } else {
#pragma omp simd
    for (i64 j = 0; j < d; ++j) out[j] = x[j] + change[j];
  }
}

// out = dropout(g), the gradient of a change, and its sum
inline void drop_row(i64 d, const float* g, const Drop& drop, i64 row, float* factor, float* out, float* sum) {
  if (drop.thr) {
    drop.row(row, d, factor);
#pragma omp simd
    for (i64 j = 0; j < d; ++j) {
      const float v = g[j] * factor[j];
      out[j] = v;
      sum[j] += v;
    }
  } else {
#pragma omp simd
    for (i64 j = 0; j < d; ++j) {
      out[j] = g[j];
      sum[j] += g[j];
    }
  }
}

inline void relu_row(i64 d, const float* factor, float* x) {
#pragma omp simd
  for (i64 j = 0; j < d; ++j) x[j] = std::max(x[j], 0.0f) * factor[j];
}

inline void gelu_row(i64 d, const float* factor, float* x, float* slope) {
#pragma omp simd
  for (i64 j = 0; j < d; ++j) {
    const Gelu g(x[j]);
    x[j] = g.value * factor[j];
    slope[j] = g.slope * factor[j];
  }
}

// g becomes the gradient before the activation, and is summed
inline void activation_row_back(i64 d, const float* slope, const float* inner, float scale, float* g, float* sum) {
  if (slope) {
#pragma omp simd
    for (i64 j = 0; j < d; ++j) {
      const float v = g[j] * slope[j];
      g[j] = v;
      sum[j] += v;
    }
  } else {  // what is above zero was kept
#pragma omp simd
    for (i64 j = 0; j < d; ++j) {
      const float v = inner[j] > 0.0f ? g[j] * scale : 0.0f;
      g[j] = v;
      sum[j] += v;
    }
  }
}

// A row written long ago is fetched from afar in one go, before a product asks for it a few columns at a time.
inline void fetch_row(i64 d, const float* x) {
  for (i64 j = 0; j < d; j += 16) __builtin_prefetch(x + j);
}

}  // namespace
