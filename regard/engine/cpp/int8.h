// Products of 8-bit integers: weights are quantised once, by column, activations as they come, by row.
//
// Σ x w ≈ s_x s_w Σ x̂ ŵ, where x̂ = round(127 x / max |x|) of its row, s_x = max |x| / 127, and ŵ and s_w of the column
// likewise. The sums are exact: every instruction set gives the same numbers. VNNI multiplies four unsigned bytes by four
// signed ones, so there weights are kept as ŵ + 128, and 128 Σ x̂ is taken away. Elsewhere pairs of 16-bit numbers are
// multiplied: sums of products of bytes (vpmaddubsw) would not always fit into 16 bits.
#pragma once
#include "tiles.h"

namespace {

typedef int32_t ivec __attribute__((vector_size(4 * WIDTH), aligned(4), may_alias));

// A group is what one 32-bit number of activations holds: so many of a row, one after the other.
#if defined(__AVX512VNNI__)
constexpr int GROUP = 4;
using Activation8 = int8_t;
#elif defined(__AVX2__)
constexpr int GROUP = 2;
using Activation8 = int16_t;
#else
constexpr int GROUP = 1;
using Activation8 = int32_t;
#endif
constexpr bool IS_SHIFTED = GROUP == 4;  // whether weights are kept as ŵ + 128

inline i64 groups(i64 K) { return (K + GROUP - 1) / GROUP; }

inline ivec load_weights(const uint8_t* w) {  // a group of WIDTH columns
#if defined(__AVX512VNNI__)
  return ivec(_mm512_loadu_si512(w));
#elif defined(__AVX512BW__)
  return ivec(_mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(w))));
#elif defined(__AVX2__)
  return ivec(_mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w))));
#else
  typedef int8_t bytes __attribute__((vector_size(WIDTH), aligned(1), may_alias));
  return __builtin_convertvector(*reinterpret_cast<const bytes*>(w), ivec);
#endif
}

inline ivec add_products(ivec sum, ivec w, int32_t a) {
#if defined(__AVX512VNNI__)
  return ivec(_mm512_dpbusd_epi32(__m512i(sum), __m512i(w), _mm512_set1_epi32(a)));
#elif defined(__AVX512BW__)
  return sum + ivec(_mm512_madd_epi16(__m512i(w), _mm512_set1_epi32(a)));
#elif defined(__AVX2__)
  return sum + ivec(_mm256_madd_epi16(__m256i(w), _mm256_set1_epi32(a)));
#else
  return sum + w * a;
#endif
}

struct Quantised {  // rows of x̂, in groups; each has its scale s_x, and what its sums are too large by
  const int32_t* data;
  i64 stride;
  const float* scales;
  const int32_t* excess;
};

struct Columns {  // of packed weights: a panel, its scales, and what it is added to
  const uint8_t* data;
  i64 width;  // how many
  const float* scales;
  First first;
};

// C[R, WIDTH L] = first + s_x s_w (A B). Few rows take several groups at a time, for sums that wait for each other.
template <int R, int L>
__attribute__((noinline)) void tile8(i64 n, const Quantised& A, const Columns& B, float* C, i64 ldc) {
  constexpr int BASES = (R + 2) / 3, AT_ONCE = R == 1 ? 4 : R == 2 ? 2 : 1;
  const i64 stride = A.stride, step = B.width * GROUP;
  ivec acc[AT_ONCE][R][L] = {};
  const int32_t* base[BASES];
#pragma GCC unroll 4
  for (int g = 0; g < BASES; ++g) {
    base[g] = A.data + 3 * g * stride;
    asm("" : "+r"(base[g]));
  }
  const uint8_t* w = B.data;
  auto take = [&](int u) {
    ivec b[L];
#pragma GCC unroll 4
    for (int l = 0; l < L; ++l) b[l] = load_weights(w + l * WIDTH * GROUP);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const int32_t a = base[r / 3][r % 3 * stride];
#pragma GCC unroll 4
      for (int l = 0; l < L; ++l) acc[u][r][l] = add_products(acc[u][r][l], b[l], a);
    }
    w += step;
#pragma GCC unroll 4
    for (int g = 0; g < BASES; ++g) ++base[g];
  };
  i64 k = 0;
  for (; k + AT_ONCE <= n; k += AT_ONCE)
#pragma GCC unroll 4
    for (int u = 0; u < AT_ONCE; ++u) take(u);
  for (; k < n; ++k) take(0);
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (int l = 0; l < L; ++l) {
      ivec sum = acc[0][r][l];
#pragma GCC unroll 4
      for (int u = 1; u < AT_ONCE; ++u) sum += acc[u][r][l];
      if (IS_SHIFTED) sum -= A.excess[r];
      const vec product = __builtin_convertvector(sum, vec) * A.scales[r];
      store(C + r * ldc + WIDTH * l,
            product * load(B.scales + WIDTH * l) + load(B.first.data + r * B.first.ld + WIDTH * l));
    }
}

inline Quantised below(const Quantised& A, i64 i) {
  return {A.data + i * A.stride, A.stride, A.scales + i, A.excess + i};
}

template <int R, int L>
void rest8(i64 M, i64 n, const Quantised& A, const Columns& B, float* C, i64 ldc) {
  if constexpr (R > 0) {
    if (M == R) return tile8<R, L>(n, A, B, C, ldc);
    rest8<R - 1, L>(M, n, A, B, C, ldc);
  }
}

template <int L>
void column8(i64 M, i64 n, const Quantised& A, Columns B, float* C, i64 ldc) {
  const First first = B.first;
  i64 i = 0;
  for (; i + ROWS <= M; i += ROWS) {
    B.first.data = first.data + i * first.ld;
    tile8<ROWS, L>(n, below(A, i), B, C + i * ldc, ldc);
  }
  B.first.data = first.data + i * first.ld;
  rest8<ROWS - 1, L>(M - i, n, below(A, i), B, C + i * ldc, ldc);
}

inline void panel8(i64 M, i64 n, const Quantised& A, Columns B, float* C, i64 ldc) {
  alignas(64) static const float zeros[PANEL] = {};
  if (!B.first.data) B.first = {zeros, 0};
  if (B.width == PANEL) return column8<LANES>(M, n, A, B, C, ldc);
  column8<16 / WIDTH>(M, n, A, B, C, ldc);
}

// C = first + A B with B packed (k_pack_int8) and N of any size, shared out among the threads.
inline void product8_shared(i64 M, i64 N, i64 K, const Quantised& A, const uint8_t* B, const float* scales, First first,
                            float* C, i64 ldc) {
  const i64 blocks = (M + STRETCH - 1) / STRETCH, n = groups(K);
#pragma omp parallel for collapse(2) schedule(static)
  for (i64 block = 0; block < blocks; ++block)
    for (i64 p = 0; p < panels(N); ++p) {
      const i64 i = block * STRETCH, m = std::min(STRETCH, M - i), j = p * PANEL;
      const i64 columns = std::min(PANEL, up(N, 16) - j), there = std::min(columns, N - j);
      const First begin{first.data ? first.data + i * first.ld + j : nullptr, first.ld};
      const uint8_t* packed = B + j * n * GROUP;
      float* out = C + i * ldc + j;
      if (there == columns) {
        panel8(m, n, below(A, i), {packed, columns, scales + j, begin}, out, ldc);
        continue;
      }
      alignas(64) float whole[STRETCH * PANEL];
      panel8(m, n, below(A, i), {packed, columns, scales + j, {}}, whole, columns);
      for (i64 r = 0; r < m; ++r)
        for (i64 c = 0; c < there; ++c)
          out[r * ldc + c] = whole[r * columns + c] + (begin.data ? begin.data[r * begin.ld + c] : 0.0f);
    }
}

inline float largest_size(i64 n, const float* x) {
  float top = 0.0f;
  i64 j = 0;
  if (n >= WIDTH) {
    vec most = {};
    for (; j + WIDTH <= n; j += WIDTH) {
      const vec a = load(x + j), size = a < 0.0f ? -a : a;
      most = size > most ? size : most;
    }
    top = largest(most);
  }
  for (; j < n; ++j) top = std::max(top, std::fabs(x[j]));
  return top;
}

inline float factor8(float top) { return top > 0.0f ? 127.0f / top : 0.0f; }

// x̂ of a row, its scale, and 128 times its sum
inline void quantise_row(i64 K, const float* x, int32_t* words, float& scale, int32_t& excess) {
  Activation8* out = reinterpret_cast<Activation8*>(words);
  const float top = largest_size(K, x), factor = factor8(top);
  int32_t sum = 0;
#pragma omp simd reduction(+ : sum)
  for (i64 k = 0; k < K; ++k) {
    const int32_t q = int32_t(std::nearbyint(x[k] * factor));
    out[k] = Activation8(q);
    sum += q;
  }
  for (i64 k = K; k < groups(K) * GROUP; ++k) out[k] = 0;
  scale = top / 127.0f;
  excess = 128 * sum;
}

struct Integers {  // room for quantised rows, kept from product to product
  std::vector<int32_t> words, excess;
  std::vector<float> scales;

  Quantised of(i64 M, i64 K, const float* x, i64 ld) {
    const i64 stride = up(groups(K), 16) + 16;  // rows a power of two apart would share lines of the cache
    if (i64(words.size()) < M * stride) words.resize(M * stride);
    if (i64(scales.size()) < M) scales.resize(M), excess.resize(M);
    const Quantised all{words.data(), stride, scales.data(), excess.data()};
#pragma omp parallel for
    for (i64 i = 0; i < M; ++i) quantise_row(K, x + i * ld, words.data() + i * stride, scales[i], excess[i]);
    return all;
  }
};

// W [N, K] as these products read it: room for up(N, 16) * groups(K) * GROUP bytes and up(N, 16) scales.
inline void pack8(i64 N, i64 K, const float* W, uint8_t* packed, float* scales) {
  const i64 n = groups(K);
#pragma omp parallel for
  for (i64 p = 0; p < panels(N); ++p) {
    const i64 j = p * PANEL, columns = std::min(PANEL, up(N, 16) - j);
    for (i64 c = 0; c < columns; ++c) {
      const bool is_there = j + c < N;
      const float* w = W + (j + c) * K;
      const float top = is_there ? largest_size(K, w) : 0.0f, factor = factor8(top);
      scales[j + c] = top / 127.0f;
      for (i64 k = 0; k < n * GROUP; ++k) {
        const int32_t q = is_there && k < K ? int32_t(std::nearbyint(w[k] * factor)) : 0;
        packed[j * n * GROUP + k / GROUP * columns * GROUP + c * GROUP + k % GROUP] = uint8_t(IS_SHIFTED ? q + 128 : q);
      }
    }
  }
}

}  // namespace
