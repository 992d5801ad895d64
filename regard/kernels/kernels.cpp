// Fused fp32 kernels for training and running a Transformer on a CPU, with a plain C ABI (loaded by ctypes; no torch headers).
// All tensors are contiguous unless a row stride is given. Rows are tokens: batches are packed, so no padding exists.
// Results do not depend on the number of threads, except for the order in which parameter gradients are summed.
#include "base.h"

extern "C" {

// out = dropout(x)
void k_dropout(i64 n, i64 d, const float* x, u64 seed, u64 stream, double p, float* out) {
  const Drop drop(seed, stream, p);
#pragma omp parallel
  {
    std::vector<float> f(up(d, BLOCK));
    const Part part(n);
    for (i64 i = part.lo; i < part.hi; ++i) {
      drop.row(i, d, f.data());
      const float *xi = x + i * d, *fi = f.data();
      float* o = out + i * d;
#pragma omp simd
      for (i64 j = 0; j < d; ++j) o[j] = xi[j] * fi[j];
    }
  }
}

// res = x + dropout(y); out = layer_norm(res) * gamma + beta. y may be null (then res is x, not written).
void k_add_norm(i64 n, i64 d, const float* x, const float* y, const float* gamma, const float* beta, double eps,
                u64 seed, u64 stream, double p, float* res, float* out, float* mean, float* rstd) {
  const Drop drop(seed, stream, p);
#pragma omp parallel
  {
    std::vector<float> f(up(d, BLOCK));
    const Part part(n);
    for (i64 i = part.lo; i < part.hi; ++i) {
      const float* r = x + i * d;
      float sum = 0.0f, sq = 0.0f;
      if (y) {
        drop.row(i, d, f.data());
        const float *xi = x + i * d, *yi = y + i * d, *fi = f.data();
        float* ri = res + i * d;
#pragma omp simd reduction(+ : sum)
        for (i64 j = 0; j < d; ++j) {
          const float v = xi[j] + yi[j] * fi[j];
          ri[j] = v;
          sum += v;
        }
        r = ri;
      } else {
#pragma omp simd reduction(+ : sum)
        for (i64 j = 0; j < d; ++j) sum += r[j];
      }
      const float m = sum / d;
#pragma omp simd reduction(+ : sq)
      for (i64 j = 0; j < d; ++j) sq += (r[j] - m) * (r[j] - m);
      const float s = 1.0f / std::sqrt(sq / d + float(eps));
      float* o = out + i * d;
#pragma omp simd
      for (i64 j = 0; j < d; ++j) o[j] = (r[j] - m) * s * gamma[j] + beta[j];
      mean[i] = m;
      rstd[i] = s;
    }
  }
}

// g_out: gradient of out; g_res: gradient of res (null if none). dx, dy as in k_add_norm; dy null if there was no y.
void k_add_norm_back(i64 n, i64 d, const float* g_out, const float* g_res, const float* res, const float* gamma,
                     const float* mean, const float* rstd, u64 seed, u64 stream, double p, float* dx, float* dy,
                     float* dgamma, float* dbeta, float* dbias) {
  const Drop drop(seed, stream, p);
  const int threads = omp_get_max_threads();
  std::vector<float> sums(threads * 3 * d, 0.0f);
#pragma omp parallel num_threads(threads)
  {
    std::vector<float> f(up(d, BLOCK));
    const Part part(n);
    float *sg = sums.data() + part.id * 3 * d, *sb = sg + d, *sy = sb + d;
    for (i64 i = part.lo; i < part.hi; ++i) {
      const float *g = g_out + i * d, *r = res + i * d, *gr = g_res ? g_res + i * d : nullptr;
      float* o = dx + i * d;
      const float m = mean[i], s = rstd[i];
      float c1 = 0.0f, c2 = 0.0f;
#pragma omp simd reduction(+ : c1, c2)
      for (i64 j = 0; j < d; ++j) {
        const float xh = (r[j] - m) * s, gg = g[j] * gamma[j];
        c1 += gg;
        c2 += gg * xh;
        sg[j] += g[j] * xh;
        sb[j] += g[j];
      }
      c1 /= d;
      c2 /= d;
      if (gr) {
#pragma omp simd
        for (i64 j = 0; j < d; ++j) o[j] = s * (g[j] * gamma[j] - c1 - (r[j] - m) * s * c2) + gr[j];
      } else {
#pragma omp simd
        for (i64 j = 0; j < d; ++j) o[j] = s * (g[j] * gamma[j] - c1 - (r[j] - m) * s * c2);
      }
      if (dy) {
        drop.row(i, d, f.data());
        const float* fi = f.data();
        float* q = dy + i * d;
#pragma omp simd
        for (i64 j = 0; j < d; ++j) {
          const float v = o[j] * fi[j];
          q[j] = v;
          sy[j] += v;
        }
      }
    }
  }
  std::vector<float> total(3 * d);
  reduce(sums, threads, 3 * d, total.data());
  std::copy(total.begin(), total.begin() + d, dgamma);
  std::copy(total.begin() + d, total.begin() + 2 * d, dbeta);
  if (dbias) std::copy(total.begin() + 2 * d, total.end(), dbias);
}

// h = dropout(relu(h + bias)), in place
void k_bias_relu(i64 n, i64 d, float* h, const float* bias, u64 seed, u64 stream, double p) {
  const Drop drop(seed, stream, p);
#pragma omp parallel
  {
    std::vector<float> f(up(d, BLOCK));
    const Part part(n);
    for (i64 i = part.lo; i < part.hi; ++i) {
      drop.row(i, d, f.data());
      const float* fi = f.data();
      float* o = h + i * d;
#pragma omp simd
      for (i64 j = 0; j < d; ++j) o[j] = std::max(o[j] + bias[j], 0.0f) * fi[j];
    }
  }
}

// dh = gradient through k_bias_relu (h, its output, tells which elements lived), and its column sums
void k_bias_relu_back(i64 n, i64 d, const float* g, const float* h, double p, float* dh, float* dbias) {
  const Drop drop(0, 0, p);
  const int threads = omp_get_max_threads();
  std::vector<float> sums(threads * d, 0.0f);
#pragma omp parallel num_threads(threads)
  {
    const Part part(n);
    float* sb = sums.data() + part.id * d;
    const float scale = drop.scale;
    for (i64 i = part.lo; i < part.hi; ++i) {
      float* o = dh + i * d;
      const float *gi = g + i * d, *hi = h + i * d;
#pragma omp simd
      for (i64 j = 0; j < d; ++j) {
        const float v = hi[j] > 0.0f ? gi[j] * scale : 0.0f;
        o[j] = v;
        sb[j] += v;
      }
    }
  }
  reduce(sums, threads, d, dbias);
}

// out = dropout(gelu(h + bias)), exactly; where learn, h becomes its derivative for the way back.
void k_bias_gelu(i64 n, i64 d, float* h, const float* bias, u64 seed, u64 stream, double p, int learn, float* out) {
  const Drop drop(seed, stream, p);
#pragma omp parallel
  {
    std::vector<float> f(up(d, BLOCK));
    const Part part(n);
    for (i64 i = part.lo; i < part.hi; ++i) {
      drop.row(i, d, f.data());
      const float* fi = f.data();
      float *hi = h + i * d, *o = out + i * d;
#pragma omp simd
      for (i64 j = 0; j < d; ++j) {
        const Gelu g(hi[j] + bias[j]);
        o[j] = g.value * fi[j];
        if (learn) hi[j] = g.slope * fi[j];
      }
    }
  }
}

// dh = g * slope (which may be dh itself), and its column sums
void k_bias_gelu_back(i64 n, i64 d, const float* g, const float* slope, float* dh, float* dbias) {
  const int threads = omp_get_max_threads();
  std::vector<float> sums(threads * d, 0.0f);
#pragma omp parallel num_threads(threads)
  {
    const Part part(n);
    float* sb = sums.data() + part.id * d;
    for (i64 i = part.lo; i < part.hi; ++i) {
      float* o = dh + i * d;
      const float *gi = g + i * d, *si = slope + i * d;
#pragma omp simd
      for (i64 j = 0; j < d; ++j) {
        const float v = gi[j] * si[j];
        o[j] = v;
        sb[j] += v;
      }
    }
  }
  reduce(sums, threads, d, dbias);
}

// out[j] = sum of column j
void k_colsum(i64 n, i64 d, const float* x, float* out) {
  const int threads = omp_get_max_threads();
  std::vector<float> sums(threads * d, 0.0f);
#pragma omp parallel num_threads(threads)
  {
    const Part part(n);
    float* s = sums.data() + part.id * d;
    for (i64 i = part.lo; i < part.hi; ++i) {
      const float* r = x + i * d;
#pragma omp simd
      for (i64 j = 0; j < d; ++j) s[j] += r[j];
    }
  }
  reduce(sums, threads, d, out);
}

// out = dropout(scale * table[id] + pos[position])
void k_embed(i64 n, i64 d, const i64* ids, const i64* at, const float* table, const float* pos, float scale, u64 seed,
             u64 stream, double p, float* out) {
  const Drop drop(seed, stream, p);
#pragma omp parallel
  {
    std::vector<float> f(up(d, BLOCK));
    const Part part(n);
    for (i64 i = part.lo; i < part.hi; ++i) {
      drop.row(i, d, f.data());
      const float *fi = f.data(), *t = table + ids[i] * d, *q = pos + at[i] * d;
      float* o = out + i * d;
#pragma omp simd
      for (i64 j = 0; j < d; ++j) o[j] = (scale * t[j] + q[j]) * fi[j];
    }
  }
}

// dtable[id] += scale * dropout mask * g. Each thread owns a band of columns: no races, and a fixed order of sums.
void k_embed_back(i64 n, i64 d, const i64* ids, const float* g, float scale, u64 seed, u64 stream, double p,
                  float* dtable) {
  const Drop drop(seed, stream, p);
#pragma omp parallel
  {
    std::vector<float> f(up(d, BLOCK));
    const Part part(d);
    for (i64 i = 0; i < n; ++i) {
      drop.row(i, d, f.data());
      const float *fi = f.data(), *gi = g + i * d;
      float* o = dtable + ids[i] * d;
#pragma omp simd
      for (i64 j = part.lo; j < part.hi; ++j) o[j] += scale * fi[j] * gi[j];
    }
  }
}

// Cross-entropy with label smoothing: logits [n, V] become their gradient times `weight`; returns the sum of losses.
double k_cross_entropy(i64 n, i64 V, float* logits, const i64* target, float smooth, float weight) {
  double total = 0.0;
#pragma omp parallel for reduction(+ : total)
  for (i64 i = 0; i < n; ++i) {
    float* r = logits + i * V;
    const float top = row_max(r, V);
    float sum = 0.0f, all = 0.0f;
#pragma omp simd reduction(+ : all)
    for (i64 j = 0; j < V; ++j) all += r[j];
    const float own = r[target[i]];
#pragma omp simd reduction(+ : sum)
    for (i64 j = 0; j < V; ++j) {
      const float e = fast_exp(r[j] - top);
      r[j] = e;
      sum += e;
    }
    const float a = weight / sum, c = weight * smooth / V;
#pragma omp simd
    for (i64 j = 0; j < V; ++j) r[j] = r[j] * a - c;
    r[target[i]] -= weight * (1.0f - smooth);
    total += top + std::log(sum) - (1.0f - smooth) * own - smooth * (all / V);
  }
  return total;
}

// Adam with decoupled weight decay (Loshchilov and Hutter 2017), in one pass: the gradient times `factor` moves first and
// second moments, these the weights; the gradient is then forgotten.
void k_adam(i64 n, float* w, float* g, float* first, float* second, double factor, double rate, double beta1,
            double beta2, double epsilon, double decay, i64 step) {
  const float f = float(factor), b1 = float(1 - beta1), b2 = float(beta2), c2 = float(1 - beta2), eps = float(epsilon);
  const float keep = float(1 - rate * decay), size = float(rate / (1 - std::pow(beta1, double(step))));
  const float root = float(1 / std::sqrt(1 - std::pow(beta2, double(step))));
#pragma omp parallel
  {
    const Part part(n);
#pragma omp simd
    for (i64 j = part.lo; j < part.hi; ++j) {
      const float x = g[j] * f, m = first[j] + b1 * (x - first[j]), v = b2 * second[j] + c2 * x * x;
      g[j] = 0.0f;
      first[j] = m;
      second[j] = v;
      w[j] = w[j] * keep - size * m / (std::sqrt(v) * root + eps);
    }
  }
}

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
    const float* r = x + i * d;
    float* o = out + i * d;
    float sum = 0.0f, sq = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (i64 j = 0; j < d; ++j) sum += r[j];
    const float m = sum / d;
#pragma omp simd reduction(+ : sq)
    for (i64 j = 0; j < d; ++j) sq += (r[j] - m) * (r[j] - m);
    const float s = 1.0f / std::sqrt(sq / d + eps);
#pragma omp simd
    for (i64 j = 0; j < d; ++j) o[j] = (r[j] - m) * s * gamma[j] + beta[j];
  }
}

struct Layer {  // as models/frozen.py lists them; weights lie with a row for each input
  const float *norm1, *shift1, *qkv, *qkv_bias, *out1, *out1_bias;
  const float *norm2, *shift2, *query, *query_bias, *out2, *out2_bias;
  const float *norm3, *shift3, *widen, *widen_bias, *narrow, *narrow_bias;
};

}  // namespace

extern "C" {

// One word a row through the decoder of a Transformer. x [R,D]: the embedded words, overwritten. written[l] and
// source[l]: rows of keys and values side by side; the new words' go to rows first..first+R of the former.
void k_decoder_step(sgemm_t sgemm, i64 n_layers, i64 R, i64 D, i64 F, i64 H, i64 V, int is_pre_norm, double epsilon,
                    const Layer* layers, const float* norm, const float* shift, const float* output, float* const* written,
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

    if (is_pre_norm) layer_norm(R, D, x, w.norm2, w.shift2, eps, h);
    spread(R, D, w.query_bias, wide);
    product(R, D, D, given, w.query, 1.0f, wide);
    k_recall(R, S, H, D / H, wide, D, source[l], 2 * D, source[l] + D, 2 * D, source_places, context);
    add_bias(R, D, w.out2_bias, x);
    product(R, D, D, context, w.out2, 1.0f, x);
    if (!is_pre_norm) layer_norm(R, D, x, w.norm2, w.shift2, eps, x);

    if (is_pre_norm) layer_norm(R, D, x, w.norm3, w.shift3, eps, h);
    product(R, F, D, given, w.widen, 0.0f, inner);
#pragma omp parallel for
    for (i64 r = 0; r < R; ++r) {
      float* o = inner + r * F;
#pragma omp simd
      for (i64 j = 0; j < F; ++j) o[j] = std::max(o[j] + w.widen_bias[j], 0.0f);
    }
    add_bias(R, D, w.narrow_bias, x);
    product(R, D, F, inner, w.narrow, 1.0f, x);
    if (!is_pre_norm) layer_norm(R, D, x, w.norm3, w.shift3, eps, x);
  }
  if (norm) layer_norm(R, D, x, norm, shift, eps, x);
  product(R, V, D, x, output, 0.0f, logits);
}
}  // extern "C"
