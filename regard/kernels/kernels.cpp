// Fused fp32 kernels for training and running a Transformer on a CPU, with a plain C ABI (loaded by ctypes; no torch headers).
// All tensors are contiguous unless a row stride is given. Rows are tokens: batches are packed, so no padding exists.
//
// Random bits: Philox4x32-7 (Salmon et al. 2011) keyed by (seed), counted by (stream, element / 128): 16 bits an
// element. A mask is never stored: the backward pass draws the same numbers again. Results do not depend on the
// number of threads, except for the order in which parameter gradients are summed.
#include <omp.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

using i64 = int64_t;
using u64 = uint64_t;
using u32 = uint32_t;
using u16 = uint16_t;
typedef float v16 __attribute__((vector_size(64), aligned(4), may_alias));

namespace {

constexpr int BLOCK = 128;  // 16-bit numbers in one Philox block of 16 lanes x 4 words x 2 halves

// 128 16-bit numbers. Lane l of 16 has counter block * 16 + l; lanes 0-7 fill the first half of out, 8-15 the second.
inline void philox(u64 seed, u64 stream, u64 block, u16* out) {
  constexpr u32 M0 = 0xD2511F53u, M1 = 0xCD9E8D57u, W0 = 0x9E3779B9u, W1 = 0xBB67AE85u;
  const u64 base = block * 16;
#ifdef __AVX512F__
  const __m512i m0 = _mm512_set1_epi64(M0), m1 = _mm512_set1_epi64(M1);
  const __m512i steps = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), top = _mm512_set1_epi64(i64(base >> 32));
  const __m512i s0 = _mm512_set1_epi64(i64(u32(stream))), s1 = _mm512_set1_epi64(i64(stream >> 32));
  __m512i a[2], b[2], c[2], d[2];  // a 32-bit word in the low half of each 64-bit lane; high halves are ignored
  for (int h = 0; h < 2; ++h) {
    a[h] = _mm512_add_epi64(_mm512_set1_epi64(i64(u32(base)) + 8 * h), steps);
    b[h] = top, c[h] = s0, d[h] = s1;
  }
  u32 k0 = u32(seed), k1 = u32(seed >> 32);
#pragma GCC unroll 7
  for (int r = 0; r < 7; ++r, k0 += W0, k1 += W1) {
    const __m512i x0 = _mm512_set1_epi64(k0), x1 = _mm512_set1_epi64(k1);
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
      const __m512i p = _mm512_mul_epu32(a[h], m0), q = _mm512_mul_epu32(c[h], m1);
      a[h] = _mm512_ternarylogic_epi64(_mm512_srli_epi64(q, 32), b[h], x0, 0x96);  // three-way xor
      c[h] = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p, 32), d[h], x1, 0x96);
      b[h] = q;
      d[h] = p;
    }
  }
  for (int h = 0; h < 2; ++h) {
    _mm512_store_si512(out + 64 * h, _mm512_mask_blend_epi32(0xAAAA, a[h], _mm512_slli_epi64(b[h], 32)));
    _mm512_store_si512(out + 64 * h + 32, _mm512_mask_blend_epi32(0xAAAA, c[h], _mm512_slli_epi64(d[h], 32)));
  }
#else
  u32* w = reinterpret_cast<u32*>(out);
  for (int l = 0; l < 16; ++l) {
    u32 a = u32(base) + l, b = u32(base >> 32), c = u32(stream), d = u32(stream >> 32);
    u32 k0 = u32(seed), k1 = u32(seed >> 32);
    for (int r = 0; r < 7; ++r, k0 += W0, k1 += W1) {
      const u64 p = u64(M0) * a, q = u64(M1) * c;
      a = u32(q >> 32) ^ b ^ k0;
      c = u32(p >> 32) ^ d ^ k1;
      b = u32(q);
      d = u32(p);
    }
    u32* o = w + (l / 8) * 32 + (l % 8) * 2;
    o[0] = a, o[1] = b, o[16] = c, o[17] = d;
  }
#endif
}

struct Drop {  // keep an element when its 16 random bits are at least `thr`, and scale it by `scale`
  u64 seed, stream;
  u32 thr;
  float scale;
  Drop(u64 seed, u64 stream, double p) : seed(seed), stream(stream) {
    thr = u32(std::min(std::lround(p * 65536.0), 65535L));  // of all, a few stay: the scale is finite
    scale = float(65536.0 / (65536.0 - thr));
  }
  // factors (0 or scale) of one row of n numbers; f has room for n rounded up to BLOCK
  void row(i64 row, i64 n, float* f) const {
    if (!thr) {
      std::fill(f, f + n, 1.0f);
      return;
    }
    alignas(64) u16 bits[BLOCK];
    const u32 least = thr;  // locals: loads through `this` would keep the loop below from being vectorised
    const float kept = scale;
    const i64 blocks = (n + BLOCK - 1) / BLOCK;
    for (i64 k = 0; k < blocks; ++k) {
      philox(seed, stream, u64(row * blocks + k), bits);
      float* g = f + k * BLOCK;
#pragma omp simd
      for (int j = 0; j < BLOCK; ++j) g[j] = u32(bits[j]) >= least ? kept : 0.0f;
    }
  }
};

inline i64 up(i64 n, i64 m) { return (n + m - 1) / m * m; }

inline float fast_exp(float x) {  // Cephes expf: relative error about 1e-7; vectorised by the compiler
  const float given = x;
  x = x < -87.0f ? -87.0f : x;
  const float n = std::nearbyint(x * 1.44269504f);
  float r = x - n * 0.693359375f;
  r = r + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const int32_t e = (int32_t(n) + 127) << 23;
  float s;
  std::memcpy(&s, &e, 4);
  return given < -87.0f ? 0.0f : p * s;
}

inline float row_max(const float* r, i64 n) {  // std::max in a loop is not vectorised without -ffinite-math-only
  float top = -INFINITY;
  i64 j = 0;
  if (n >= 16) {
    v16 best = *reinterpret_cast<const v16*>(r);
    for (j = 16; j + 16 <= n; j += 16) {
      const v16 x = *reinterpret_cast<const v16*>(r + j);
      best = x > best ? x : best;
    }
    for (int l = 0; l < 16; ++l) top = std::max(top, best[l]);
  }
  for (; j < n; ++j) top = std::max(top, r[j]);
  return top;
}

struct Part {  // this thread's share of n rows
  i64 lo, hi;
  int id;
  explicit Part(i64 n) {
    const i64 t = omp_get_num_threads();
    id = omp_get_thread_num();
    lo = n * id / t;
    hi = n * (id + 1) / t;
  }
};

void reduce(const std::vector<float>& partial, int threads, i64 n, float* out) {
  for (i64 j = 0; j < n; ++j) out[j] = 0.0f;
  for (int t = 0; t < threads; ++t)
    for (i64 j = 0; j < n; ++j) out[j] += partial[t * n + j];
}

// C[M,N] = A[M,K] B[K,N] for small matrices in cache; A has any strides; N is a multiple of 16.
template <int R>
inline void gemm_rows(i64 N, i64 K, const float* A, i64 rs, i64 cs, const float* B, i64 ldb, float* C, i64 ldc) {
  for (i64 j = 0; j < N; j += 16) {
    v16 acc[R] = {};
    for (i64 k = 0; k < K; ++k) {
      const v16 b = *reinterpret_cast<const v16*>(B + k * ldb + j);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) acc[r] += A[r * rs + k * cs] * b;
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) *reinterpret_cast<v16*>(C + r * ldc + j) = acc[r];
  }
}

void gemm(i64 M, i64 N, i64 K, const float* A, i64 rs, i64 cs, const float* B, i64 ldb, float* C, i64 ldc) {
  i64 i = 0;
  for (; i + 8 <= M; i += 8) gemm_rows<8>(N, K, A + i * rs, rs, cs, B, ldb, C + i * ldc, ldc);
  if (i + 4 <= M) gemm_rows<4>(N, K, A + i * rs, rs, cs, B, ldb, C + i * ldc, ldc), i += 4;
  if (i + 2 <= M) gemm_rows<2>(N, K, A + i * rs, rs, cs, B, ldb, C + i * ldc, ldc), i += 2;
  if (i < M) gemm_rows<1>(N, K, A + i * rs, rs, cs, B, ldb, C + i * ldc, ldc);
}

// The same for attention, eight rows at a time: of a causal matrix no more than its lower triangle is computed.
// The columns of C (scores), or the inner axis from its end (what rows gather) or from its beginning (what they give).
void gemm_scores(i64 M, i64 N, i64 K, const float* A, i64 rs, const float* B, i64 ldb, float* C, i64 ldc, int causal) {
  if (!causal) return gemm(M, N, K, A, rs, 1, B, ldb, C, ldc);
  for (i64 i = 0; i < M; i += 8)
    gemm(std::min<i64>(8, M - i), std::min(N, up(i + 8, 16)), K, A + i * rs, rs, 1, B, ldb, C + i * ldc, ldc);
}

void gemm_gather(i64 M, i64 N, i64 K, const float* A, i64 rs, const float* B, i64 ldb, float* C, i64 ldc, int causal) {
  if (!causal) return gemm(M, N, K, A, rs, 1, B, ldb, C, ldc);
  for (i64 i = 0; i < M; i += 8)
    gemm(std::min<i64>(8, M - i), N, std::min(K, i + 8), A + i * rs, rs, 1, B, ldb, C + i * ldc, ldc);
}

void gemm_give(i64 M, i64 N, i64 K, const float* A, i64 cs, const float* B, i64 ldb, float* C, i64 ldc, int causal) {
  if (!causal) return gemm(M, N, K, A, 1, cs, B, ldb, C, ldc);
  for (i64 i = 0; i < M; i += 8) {
    const i64 first = std::min(i, K);
    gemm(std::min<i64>(8, M - i), N, K - first, A + i + first * cs, 1, cs, B + first * ldb, ldb, C + i * ldc, ldc);
  }
}

void transpose(i64 rows, i64 cols, const float* in, i64 ld, float* out, i64 ldo) {  // out[cols, ldo], zero padded
  for (i64 e = 0; e < cols; ++e)
    for (i64 j = rows; j < ldo; ++j) out[e * ldo + j] = 0.0f;
  i64 j = 0;
  for (; j + 8 <= rows; j += 8)  // eight rows at a time: stores of 32 bytes
    for (i64 e = 0; e < cols; ++e)
      for (int l = 0; l < 8; ++l) out[e * ldo + j + l] = in[(j + l) * ld + e];
  for (; j < rows; ++j)
    for (i64 e = 0; e < cols; ++e) out[e * ldo + j] = in[j * ld + e];
}

}  // namespace

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
// erf by Abramowitz and Stegun 7.1.26 (absolute error 1.5e-7), which shares its exponential with the derivative.
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
        const float z = hi[j] + bias[j], a = std::fabs(z) * 0.70710678f;
        const float e = fast_exp(-0.5f * z * z);
        const float t = 1.0f / (1.0f + 0.3275911f * a);
        float q = 1.061405429f;
        q = q * t - 1.453152027f;
        q = q * t + 1.421413741f;
        q = q * t - 0.284496736f;
        q = q * t + 0.254829592f;
        const float tail = 0.5f * q * t * e;  // of the normal distribution, beyond |z|
        const float phi = z < 0.0f ? tail : 1.0f - tail;
        o[j] = z * phi * fi[j];
        if (learn) hi[j] = (phi + z * 0.39894228f * e) * fi[j];
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

// Attention over packed sentences: rows cu_q[b]..cu_q[b+1] of q against rows cu_k[b]..cu_k[b+1] of k and v.
// Row strides ldq, ldk, ldv let q, k, v be column bands of one projection. `at` [B] is where a sentence's
// probabilities start in probs: H matrices [Tq, up(Tk, 16)]. E is a multiple of 16.
void k_attention(i64 B, i64 H, i64 E, const int32_t* cu_q, const int32_t* cu_k, const i64* at, const float* q, i64 ldq,
                 const float* k, i64 ldk, const float* v, i64 ldv, int causal, u64 seed, u64 stream, double p,
                 float* probs, float* out) {
  const Drop drop(seed, stream, p);
  const float scale = 1.0f / std::sqrt(float(E));
#pragma omp parallel
  {
    std::vector<float> kt, pd, f;
#pragma omp for schedule(dynamic, 8)
    for (i64 b = 0; b < B; ++b) {
      const i64 q0 = cu_q[b], tq = cu_q[b + 1] - q0, k0 = cu_k[b], tk = cu_k[b + 1] - k0, ld = up(tk, 16);
      kt.resize(std::max<i64>(kt.size(), E * ld));
      pd.resize(std::max<i64>(pd.size(), tq * ld));
      f.resize(std::max<i64>(f.size(), up(tq * ld, BLOCK)));
      for (i64 h = 0; h < H; ++h) {
        float* P = probs + at[b] + h * tq * ld;
        transpose(tk, E, k + k0 * ldk + h * E, ldk, kt.data(), ld);
        gemm_scores(tq, ld, E, q + q0 * ldq + h * E, ldq, kt.data(), ld, P, ld, causal);
        for (i64 i = 0; i < tq; ++i) {
          float* r = P + i * ld;
          const i64 end = causal ? std::min(i + 1, tk) : tk, width = up(end, 16);
          const float top = row_max(r, end);
          float sum = 0.0f;
          for (i64 j = end; j < width; ++j) r[j] = -INFINITY;
#pragma omp simd reduction(+ : sum)
          for (i64 j = 0; j < width; ++j) {
            const float e = fast_exp((r[j] - top) * scale);
            r[j] = e;
            sum += e;
          }
          const float inv = 1.0f / sum;
#pragma omp simd
          for (i64 j = 0; j < width; ++j) r[j] *= inv;
          std::fill(r + width, r + ld, 0.0f);
        }
        const float* A = P;
        if (drop.thr) {
          Drop mine = drop;
          mine.stream = drop.stream + (u64(b * H + h + 1) << 40);
          mine.row(0, tq * ld, f.data());
          const float* fi = f.data();
          float* o = pd.data();
#pragma omp simd
          for (i64 j = 0; j < tq * ld; ++j) o[j] = P[j] * fi[j];
          A = o;
        }
        gemm_gather(tq, E, tk, A, ld, v + k0 * ldv + h * E, ldv, out + q0 * H * E + h * E, H * E, causal);
      }
    }
  }
}

void k_attention_back(i64 B, i64 H, i64 E, const int32_t* cu_q, const int32_t* cu_k, const i64* at, const float* q,
                      i64 ldq, const float* k, i64 ldk, const float* v, i64 ldv, int causal, u64 seed, u64 stream,
                      double p, const float* probs, const float* g, float* dq, i64 lddq, float* dk, i64 lddk, float* dv,
                      i64 lddv) {
  const Drop drop(seed, stream, p);
  const float scale = 1.0f / std::sqrt(float(E));
#pragma omp parallel
  {
    std::vector<float> vt, pd, ds, f;
#pragma omp for schedule(dynamic, 8)
    for (i64 b = 0; b < B; ++b) {
      const i64 q0 = cu_q[b], tq = cu_q[b + 1] - q0, k0 = cu_k[b], tk = cu_k[b + 1] - k0, ld = up(tk, 16);
      const i64 room = up(tq * ld, BLOCK);
      vt.resize(std::max<i64>(vt.size(), E * ld));
      pd.resize(std::max<i64>(pd.size(), room));
      ds.resize(std::max<i64>(ds.size(), room));
      f.resize(std::max<i64>(f.size(), room));
      for (i64 h = 0; h < H; ++h) {
        const float *P = probs + at[b] + h * tq * ld, *go = g + q0 * H * E + h * E;
        Drop mine = drop;
        mine.stream = drop.stream + (u64(b * H + h + 1) << 40);
        mine.row(0, tq * ld, f.data());
        transpose(tk, E, v + k0 * ldv + h * E, ldv, vt.data(), ld);
        gemm_scores(tq, ld, E, go, H * E, vt.data(), ld, ds.data(), ld, causal);
        for (i64 i = 0; i < tq; ++i) {
          const i64 width = causal ? std::min(ld, up(i + 1, 16)) : ld;
          const float *r = P + i * ld, *fi = f.data() + i * ld;
          float *x = ds.data() + i * ld, *y = pd.data() + i * ld, dot = 0.0f;
#pragma omp simd reduction(+ : dot)
          for (i64 j = 0; j < width; ++j) {
            const float pj = r[j] * fi[j];
            y[j] = pj;
            dot += pj * x[j];
          }
#pragma omp simd
          for (i64 j = 0; j < width; ++j) x[j] = scale * (y[j] * x[j] - r[j] * dot);
        }
        gemm_give(tk, E, tq, pd.data(), ld, go, H * E, dv + k0 * lddv + h * E, lddv, causal);
        gemm_gather(tq, E, tk, ds.data(), ld, k + k0 * ldk + h * E, ldk, dq + q0 * lddq + h * E, lddq, causal);
        gemm_give(tk, E, tq, ds.data(), ld, q + q0 * ldq + h * E, ldq, dk + k0 * lddk + h * E, lddk, causal);
      }
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
