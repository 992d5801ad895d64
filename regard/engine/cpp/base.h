// What all kernels share: random bits, an exponential the compiler can vectorise, shares of the rows.
//
// Random bits: Philox4x32-7 (Salmon et al. 2011) keyed by (seed), counted by (stream, element / 128): 16 bits an
// element. A mask is never stored: the backward pass draws the same numbers again.
#pragma once
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

extern "C" {  // of OpenMP; not every compiler that knows its pragmas has omp.h
int omp_get_max_threads();
int omp_get_num_threads();
int omp_get_thread_num();
}

using i64 = int64_t;
using u64 = uint64_t;
using u32 = uint32_t;
using u16 = uint16_t;

// As many numbers as a register of this processor holds: of wider ones GCC makes detours through memory.
#if defined(__AVX512F__)
constexpr int WIDTH = 16;
#elif defined(__AVX__)
constexpr int WIDTH = 8;
#else
constexpr int WIDTH = 4;
#endif
typedef float vec __attribute__((vector_size(4 * WIDTH), aligned(4), may_alias));

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
  typedef u32 __attribute__((may_alias)) word;  // read as 16-bit numbers afterwards
  word* w = reinterpret_cast<word*>(out);
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
    word* o = w + (l / 8) * 32 + (l % 8) * 2;
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

struct Gelu {  // z Φ(z) and its derivative, exactly; vectorised by the compiler
  float value, slope;
  // erf by Abramowitz and Stegun 7.1.26 (absolute error 1.5e-7), which shares its exponential with the derivative
  inline explicit Gelu(float z) {
    const float a = std::fabs(z) * 0.70710678f;
    const float e = fast_exp(-0.5f * z * z);
    const float t = 1.0f / (1.0f + 0.3275911f * a);
    float q = 1.061405429f;
    q = q * t - 1.453152027f;
    q = q * t + 1.421413741f;
    q = q * t - 0.284496736f;
    q = q * t + 0.254829592f;
    const float tail = 0.5f * q * t * e;  // of the normal distribution, beyond |z|
    const float phi = z < 0.0f ? tail : 1.0f - tail;
    value = z * phi;
    slope = phi + z * 0.39894228f * e;
  }
};

inline vec load(const float* p) { return *reinterpret_cast<const vec*>(p); }
inline void store(float* p, vec x) { *reinterpret_cast<vec*>(p) = x; }

inline float largest(vec x) {  // std::max in a loop is not vectorised without -ffinite-math-only
#ifdef __AVX512F__
  return _mm512_reduce_max_ps(__m512(x));
#else
  float top = x[0];
  for (int l = 1; l < WIDTH; ++l) top = std::max(top, x[l]);
  return top;
#endif
}

inline float total(vec x) {  // lane after lane it would wait for every sum
#ifdef __AVX512F__
  return _mm512_reduce_add_ps(__m512(x));
#else
  float half[WIDTH];
  store(half, x);
  for (int n = WIDTH / 2; n; n /= 2)
    for (int l = 0; l < n; ++l) half[l] += half[l + n];
  return half[0];
#endif
}

inline float row_max(const float* r, i64 n) {
  float top = -INFINITY;
  i64 j = 0;
  if (n >= WIDTH) {
    vec best = load(r);
    for (j = WIDTH; j + WIDTH <= n; j += WIDTH) {
      const vec x = load(r + j);
      best = x > best ? x : best;
    }
    top = largest(best);
  }
  for (; j < n; ++j) top = std::max(top, r[j]);
  return top;
}

// LayerNorm of a row, in two steps, for what is measured is often kept
inline void norm_row(i64 d, const float* x, const float* gamma, const float* beta, float mean, float rstd, float* out) {
#pragma omp simd
  for (i64 j = 0; j < d; ++j) out[j] = (x[j] - mean) * rstd * gamma[j] + beta[j];
}

inline void measure_row(i64 d, const float* x, float epsilon, float& mean, float& rstd) {
  float sum = 0.0f, squares = 0.0f;
#pragma omp simd reduction(+ : sum)
  for (i64 j = 0; j < d; ++j) sum += x[j];
  const float m = sum / d;
#pragma omp simd reduction(+ : squares)
  for (i64 j = 0; j < d; ++j) squares += (x[j] - m) * (x[j] - m);
  mean = m, rstd = 1.0f / std::sqrt(squares / d + epsilon);
}

// Cross-entropy of a row of logits, which become their gradient; `smooth` of the truth is spread over all.
inline float loss_row(i64 n, float* r, i64 label, float smooth) {
  const float top = row_max(r, n), own = r[label];
  float sum = 0.0f, all = 0.0f;
#pragma omp simd reduction(+ : all)
  for (i64 j = 0; j < n; ++j) all += r[j];
#pragma omp simd reduction(+ : sum)
  for (i64 j = 0; j < n; ++j) {
    const float e = fast_exp(r[j] - top);
    r[j] = e;
    sum += e;
  }
  const float a = 1.0f / sum, c = smooth / n;
#pragma omp simd
  for (i64 j = 0; j < n; ++j) r[j] = r[j] * a - c;
  r[label] -= 1.0f - smooth;
  return top + std::log(sum) - (1.0f - smooth) * own - smooth * (all / n);
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

inline void reduce(const std::vector<float>& partial, int threads, i64 n, float* out) {
  for (i64 j = 0; j < n; ++j) out[j] = 0.0f;
  for (int t = 0; t < threads; ++t)
    for (i64 j = 0; j < n; ++j) out[j] += partial[t * n + j];
}

}  // namespace
