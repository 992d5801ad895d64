// Fused fp32 kernels for training and running a Transformer on a CPU, with a plain C ABI (loaded by ctypes; no torch headers).
// All tensors are contiguous unless a row stride is given. Rows are tokens: batches are packed, so no padding exists.
// Results do not depend on the number of threads, except for the order in which parameter gradients are summed.
#include "rows.h"

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
      norm_row_back(d, g_out + i * d, res + i * d, gamma, mean[i], rstd[i], g_res ? g_res + i * d : nullptr, dx + i * d,
                    sg, sb);
      if (dy) drop_row(d, dx + i * d, drop, i, f.data(), dy + i * d, sy);
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

// The largest of n ids, where those below 0 count as larger than all others.
u64 k_largest_id(i64 n, const i64* ids) {
  u64 top = 0;
  for (i64 i = 0; i < n; ++i) top = std::max(top, u64(ids[i]));
  return top;
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

// Cross-entropy with label smoothing: logits [n, V] become their gradient; returns the sum of losses.
double k_cross_entropy(i64 n, i64 V, float* logits, const i64* target, float smooth) {
  double total = 0.0;
#pragma omp parallel for reduction(+ : total)
  for (i64 i = 0; i < n; ++i) total += loss_row(V, logits + i * V, target[i], smooth);
  return total;
}

double k_squares(i64 n, const float* x) {  // their sum
  double total = 0.0;
#pragma omp parallel reduction(+ : total)
  {
    const Part part(n);
#pragma omp simd reduction(+ : total)
    for (i64 j = part.lo; j < part.hi; ++j) total += double(x[j]) * x[j];
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

}  // extern "C"
