// From hidden vectors to the loss and all its gradients, for so few classes that a block's logits stay in the cache.
#include "tiles.h"

extern "C" {

// The sum of the losses of hidden [n, D] weightᵀ [D, V] + bias (which may be null). Gradients: of hidden, written; of
// weight and bias, added to what is there. Any of them may be null. D is a multiple of 16.
double k_linear_loss(i64 n, i64 D, i64 V, const float* hidden, const float* weight, const float* bias, const i64* label,
                     float smooth, float* d_hidden, float* d_weight, float* d_bias) {
  const i64 W = up(V, 16), ld = wide(W);
  const int threads = omp_get_max_threads();
  Floats across(D * W), along(V * D), first(W), others((threads - 1) * (V * D + V));
  std::fill(first.data, first.data + W, 0.0f);
  if (bias) std::copy(bias, bias + V, first.data);
  double total = 0.0;
#pragma omp parallel num_threads(threads) reduction(+ : total)
  {
    const int id = omp_get_thread_num(), all = omp_get_num_threads();
#pragma omp for schedule(static) nowait
    for (i64 p = 0; p < panels(W); ++p) pack_panel_transposed(p, D, V, weight, D, across.data);
#pragma omp for schedule(static) nowait
    for (i64 p = 0; p < panels(D); ++p) pack_panel(p, V, D, weight, D, 0, V, along.data);
    float *dw = d_weight, *db = d_bias;
    if (id) {
      float* own = others.data + (id - 1) * (V * D + V);
      std::fill(own, own + V * D + V, 0.0f);
      if (dw) dw = own;
      if (db) db = own + V * D;
    }
    Floats room(STRETCH * ld);
    float* r = room.data;
    const i64 tiles = (n + ROWS - 1) / ROWS, end = std::min(n, tiles * (id + 1) / all * ROWS);
#pragma omp barrier
    for (i64 i = tiles * id / all * ROWS; i < end; i += STRETCH) {
      const i64 m = std::min(STRETCH, end - i);
      const float* h = hidden + i * D;
      product_packed(m, W, D, {h, D}, across.data, {first.data}, r, ld);
      for (i64 k = 0; k < m; ++k) {
        total += loss_row(V, r + k * ld, label[i + k], smooth);
        if (!db) continue;
#pragma omp simd
        for (i64 j = 0; j < V; ++j) db[j] += r[k * ld + j];
      }
      if (d_hidden) product_packed(m, D, V, {r, ld}, along.data, {}, d_hidden + i * D, D);
      if (dw) product(V, D, m, {r, ld, true}, h, D, {dw, D}, dw, D);
    }
#pragma omp barrier
    for (int t = 1; t < all; ++t) {
      const float* own = others.data + (t - 1) * (V * D + V);
      if (dw) {
#pragma omp for simd schedule(static)
        for (i64 j = 0; j < V * D; ++j) d_weight[j] += own[j];
      }
      if (db) {
#pragma omp for simd schedule(static)
        for (i64 j = 0; j < V; ++j) d_bias[j] += own[V * D + j];
      }
    }
  }
  return total;
}

}  // extern "C"
