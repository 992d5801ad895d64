// Matrix products of any size, by tiles that stay in registers.
//
// B is read in panels of LANES * WIDTH columns. Where it is used for many rows, its panels are packed end to end, so that
// one lies in the first cache while all rows pass it. Buffers of our own have rows 64 bytes longer than they need
// (`wide`): rows a power of two apart would fall on the same few lines of a cache.
#pragma once
#include <cstdlib>
#include <type_traits>

#include "base.h"

namespace {

// Rows of a tile, and registers of a row: with a row of B and one number of A they are all that there are.
#if defined(__AVX512F__)
constexpr int ROWS = 12, LANES = 2;  // 24 of 32 registers are sums
#elif defined(__AVX__)
constexpr int ROWS = 6, LANES = 2;  // 12 of 16
#else
constexpr int ROWS = 6, LANES = 4;  // 24 of NEON's 32
#endif
constexpr i64 PANEL = WIDTH * LANES;
constexpr i64 STRETCH = 96;  // rows that go together through one step after the other; whole tiles

inline i64 wide(i64 n) { return n + 16; }

struct Floats {  // room for n numbers, on a line of the cache
  float* data;
  explicit Floats(i64 n) : data(static_cast<float*>(std::aligned_alloc(64, up(std::max<i64>(n, 1), 16) * 4))) {}
  Floats(const Floats&) = delete;
  ~Floats() { std::free(data); }
};

// Of a few rows GCC would read B again for every row, and loads, not products, would be what is waited for.
inline vec in_register(vec x) {
#if defined(__x86_64__)
  asm("" : "+v"(x));
#elif defined(__aarch64__)
  asm("" : "+w"(x));
#endif
  return x;
}

inline void copy16(const float* from, float* to) { std::memcpy(to, from, 16 * sizeof(float)); }

// C[R, WIDTH L] = first + A[R, K] B[K, WIDTH L]; a row stride of 0 lets every row add the same numbers. Of A's two strides
// one is 1. Rows that lie apart are reached from every third one, which is as far as an address can count: so all that
// the inner loop needs stays in registers.
template <int R, int L, bool ACROSS>
__attribute__((noinline)) void tile(i64 K, const float* A, i64 stride, const float* B, i64 ldb, const float* first,
                                    i64 ldf, float* C, i64 ldc) {
  constexpr int BASES = ACROSS ? (R + 2) / 3 : 1;
  vec acc[R][L] = {};
  const float* base[BASES];
#pragma GCC unroll 4
  for (int g = 0; g < BASES; ++g) {
    base[g] = A + 3 * g * stride;
    asm("" : "+r"(base[g]));
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (int l = 0; l < L; ++l) __builtin_prefetch(C + r * ldc + WIDTH * l, 1);  // come while the sums are formed
  for (i64 k = 0; k < K; ++k, B += ldb) {
    vec b[L];
#pragma GCC unroll 4
    for (int l = 0; l < L; ++l) b[l] = R > 2 ? in_register(load(B + WIDTH * l)) : load(B + WIDTH * l);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const float a = ACROSS ? base[r / 3][r % 3 * stride] : base[0][r];
#pragma GCC unroll 4
      for (int l = 0; l < L; ++l) acc[r][l] += a * b[l];
    }
#pragma GCC unroll 4
    for (int g = 0; g < BASES; ++g) base[g] += ACROSS ? 1 : stride;
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (int l = 0; l < L; ++l) store(C + r * ldc + WIDTH * l, acc[r][l] + load(first + r * ldf + WIDTH * l));
}

// The rows that are left over, fewer than a whole tile has.
template <int R, int L, bool ACROSS>
void rest(i64 M, i64 K, const float* A, i64 stride, const float* B, i64 ldb, const float* first, i64 ldf, float* C,
          i64 ldc) {
  if constexpr (R > 0) {
    if (M == R) return tile<R, L, ACROSS>(K, A, stride, B, ldb, first, ldf, C, ldc);
    rest<R - 1, L, ACROSS>(M, K, A, stride, B, ldb, first, ldf, C, ldc);
  }
}

template <int L, bool ACROSS>
void column(i64 M, i64 K, const float* A, i64 stride, const float* B, i64 ldb, const float* first, i64 ldf, float* C,
            i64 ldc) {
  const i64 step = ACROSS ? stride : 1;
  i64 i = 0;
  for (; i + ROWS <= M; i += ROWS)
    tile<ROWS, L, ACROSS>(K, A + i * step, stride, B, ldb, first + i * ldf, ldf, C + i * ldc, ldc);
  rest<ROWS - 1, L, ACROSS>(M - i, K, A + i * step, stride, B, ldb, first + i * ldf, ldf, C + i * ldc, ldc);
}

struct Matrix {  // its rows lie `stride` apart, or, of a transpose, its columns
  const float* data;
  i64 stride;
  bool is_transpose = false;
};

struct First {  // what a product is added to: nothing, a bias for every row, or a matrix
  const float* data = nullptr;
  i64 ld = 0;
};

// One panel of C[M, N] = first + A[M, K] B[K, N]; B's panel has `columns` columns, a multiple of 16.
inline void panel(i64 M, i64 columns, i64 K, Matrix A, const float* B, i64 ldb, First first, float* C, i64 ldc) {
  alignas(64) static const float zeros[PANEL] = {};
  if (!first.data) first.data = zeros, first.ld = 0;
  auto run = [&](auto lanes, auto across) {
    column<decltype(lanes)::value, decltype(across)::value>(M, K, A.data, A.stride, B, ldb, first.data, first.ld, C, ldc);
  };
  const std::integral_constant<int, LANES> all;
  const std::integral_constant<int, 16 / WIDTH> one;
  if (A.is_transpose) return columns == PANEL ? run(all, std::false_type()) : run(one, std::false_type());
  columns == PANEL ? run(all, std::true_type()) : run(one, std::true_type());
}

inline First along(First first, i64 j) { return {first.data ? first.data + j : nullptr, first.ld}; }

// C = first + A B with B where it is; N is a multiple of 16.
inline void product(i64 M, i64 N, i64 K, Matrix A, const float* B, i64 ldb, First first, float* C, i64 ldc) {
  for (i64 j = 0; j < N; j += PANEL) panel(M, std::min(PANEL, N - j), K, A, B + j, ldb, along(first, j), C + j, ldc);
}

// The same with B packed.
inline void product_packed(i64 M, i64 N, i64 K, Matrix A, const float* B, First first, float* C, i64 ldc) {
  for (i64 j = 0; j < N; j += PANEL) {
    const i64 columns = std::min(PANEL, N - j);
    panel(M, columns, K, A, B + j * K, columns, along(first, j), C + j, ldc);
  }
}

inline i64 panels(i64 N) { return (N + PANEL - 1) / PANEL; }

// Panel p of W [K, N] (row stride ld), as rows k0.. of a packed matrix with `depth` rows.
inline void pack_panel(i64 p, i64 K, i64 N, const float* W, i64 ld, i64 k0, i64 depth, float* packed) {
  const i64 j = p * PANEL, columns = std::min(PANEL, N - j);
  float* out = packed + j * depth + k0 * columns;
  for (i64 k = 0; k < K; ++k)
    for (i64 c = 0; c < columns; c += 16) copy16(W + k * ld + j + c, out + k * columns + c);
}

// out [16, 16] = the transpose of W [16, 16]
inline void transpose(const float* W, i64 ld, float* out, i64 ldo) {
#ifdef __AVX512F__
  __m512 a[16], b[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) a[i] = _mm512_loadu_ps(W + i * ld);
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {  // pairs of rows, then fours: within each quarter of a register
    b[i] = _mm512_unpacklo_ps(a[i], a[i + 1]);
    b[i + 1] = _mm512_unpackhi_ps(a[i], a[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4)
#pragma GCC unroll 4
    for (int h = 0; h < 2; ++h) {
      const __m512d x = _mm512_castps_pd(b[i + h]), y = _mm512_castps_pd(b[i + 2 + h]);
      a[i + 2 * h] = _mm512_castpd_ps(_mm512_unpacklo_pd(x, y));
      a[i + 2 * h + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(x, y));
    }
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {  // a[4 r + c] has columns c, c + 4, c + 8 and c + 12 of rows 4 r to 4 r + 3
    b[c] = _mm512_shuffle_f32x4(a[c], a[c + 4], 0x88), b[c + 4] = _mm512_shuffle_f32x4(a[c], a[c + 4], 0xdd);
    b[c + 8] = _mm512_shuffle_f32x4(a[c + 8], a[c + 12], 0x88), b[c + 12] = _mm512_shuffle_f32x4(a[c + 8], a[c + 12], 0xdd);
  }
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    _mm512_storeu_ps(out + c * ldo, _mm512_shuffle_f32x4(b[c], b[c + 8], 0x88));
    _mm512_storeu_ps(out + (c + 4) * ldo, _mm512_shuffle_f32x4(b[c + 4], b[c + 12], 0x88));
    _mm512_storeu_ps(out + (c + 8) * ldo, _mm512_shuffle_f32x4(b[c], b[c + 8], 0xdd));
    _mm512_storeu_ps(out + (c + 12) * ldo, _mm512_shuffle_f32x4(b[c + 4], b[c + 12], 0xdd));
  }
#else
  for (int k = 0; k < 16; ++k)
    for (int l = 0; l < 16; ++l) out[k * ldo + l] = W[l * ld + k];
#endif
}

// Panel p of the transpose of W [n, K]; columns from n up to a multiple of 16 are zeros.
inline void pack_panel_transposed(i64 p, i64 K, i64 n, const float* W, i64 ld, float* packed) {
  const i64 j = p * PANEL, columns = std::min(PANEL, up(n, 16) - j), filled = std::min(columns, n - j);
  float* out = packed + j * K;
  if (filled < columns) std::fill(out, out + K * columns, 0.0f);
  i64 c = 0;
  for (; c + 16 <= filled; c += 16) {
    const float* rows = W + (j + c) * ld;
    i64 k = 0;
    for (; k + 16 <= K; k += 16) transpose(rows + k, ld, out + k * columns + c, columns);
    for (; k < K; ++k)
      for (int l = 0; l < 16; ++l) out[k * columns + c + l] = rows[l * ld + k];
  }
  for (; c < filled; ++c)
    for (i64 k = 0; k < K; ++k) out[k * columns + c] = W[(j + c) * ld + k];
}

// C = first + A B with B packed and N of any size, shared out among the threads. How a number is summed up depends on
// nothing but its own row and column: who else is in a batch changes no bit.
inline void product_shared(i64 M, i64 N, i64 K, Matrix A, const float* B, First first, float* C, i64 ldc) {
  const i64 blocks = (M + STRETCH - 1) / STRETCH;
#pragma omp parallel for collapse(2) schedule(static)
  for (i64 block = 0; block < blocks; ++block)
    for (i64 p = 0; p < panels(N); ++p) {
      const i64 i = block * STRETCH, m = std::min(STRETCH, M - i), j = p * PANEL;
      const i64 columns = std::min(PANEL, up(N, 16) - j), there = std::min(columns, N - j);
      const Matrix rows{A.data + i * A.stride, A.stride};
      const First begin{first.data ? first.data + i * first.ld + j : nullptr, first.ld};
      float* out = C + i * ldc + j;
      if (there == columns) {
        panel(m, columns, K, rows, B + j * K, columns, begin, out, ldc);
        continue;
      }
      alignas(64) float whole[STRETCH * PANEL];
      panel(m, columns, K, rows, B + j * K, columns, {}, whole, columns);
      for (i64 r = 0; r < m; ++r)
        for (i64 c = 0; c < there; ++c)
          out[r * ldc + c] = whole[r * columns + c] + (begin.data ? begin.data[r * begin.ld + c] : 0.0f);
    }
}

}  // namespace
