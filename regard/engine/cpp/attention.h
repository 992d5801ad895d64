// One head of one sentence: queries [tq, E] gather from keys and values [tk, E]. E is a multiple of 16.
#pragma once
#include "tiles.h"

namespace {

struct Head {
  i64 tq, tk, E;
  const float *q, *k, *v;
  i64 ldq, ldk, ldv;
  int causal;
  i64 ld() const { return up(tk, 16); }
  i64 room() const { return up(tq * ld(), BLOCK); }
};

struct HeadRoom {  // what a thread needs beside, kept from head to head
  std::vector<float> packed, dropped, slope, factor;
  void fit(const Head& h) {
    const size_t n = h.room(), p = h.E * h.ld();
    if (packed.size() < p) packed.resize(p);
    if (factor.size() < n) dropped.resize(n), slope.resize(n), factor.resize(n);
  }
};

// scores [tq, up(tk, 16)] = a bᵀ; of a causal matrix no more than the panels below and on the diagonal.
inline void score(const Head& h, const float* a, i64 lda, const float* b, i64 ldb, float* packed, float* scores) {
  const i64 ld = h.ld();
  for (i64 p = 0; p < panels(ld); ++p) {
    const i64 j = p * PANEL, columns = std::min(PANEL, ld - j), i = h.causal ? j / ROWS * ROWS : 0;
    if (i >= h.tq) break;
    pack_panel_transposed(p, h.E, h.tk, b, ldb, packed);
    panel(h.tq - i, columns, h.E, {a + i * lda, lda}, packed + j * h.E, columns, {}, scores + i * ld + j, ld);
  }
}

// out [tq, E] = weights [tq, up(tk, 16)] b [tk, E]; a causal matrix is zero beyond the diagonal.
inline void gather(const Head& h, const float* weights, const float* b, i64 ldb, float* out, i64 ldo) {
  const i64 ld = h.ld(), step = h.causal ? ROWS : h.tq;
  for (i64 i = 0; i < h.tq; i += step) {
    const i64 rows = std::min(step, h.tq - i), deep = h.causal ? std::min(h.tk, i + rows) : h.tk;
    product(rows, h.E, deep, {weights + i * ld, ld}, b, ldb, {}, out + i * ldo, ldo);
  }
}

// out [tk, E] = weightsᵀ b [tq, E]
inline void give(const Head& h, const float* weights, const float* b, i64 ldb, float* out, i64 ldo) {
  const i64 ld = h.ld(), step = h.causal ? ROWS : h.tk;
  for (i64 i = 0; i < h.tk; i += step) {
    const i64 rows = std::min(step, h.tk - i), first = h.causal ? std::min(i, h.tq) : 0;
    product(rows, h.E, h.tq - first, {weights + i + first * ld, ld, true}, b + first * ldb, ldb, {}, out + i * ldo, ldo);
  }
}

// The columns from `end` on count for nothing.
inline void softmax_row(float* r, i64 end, i64 ld, float scale) {
  if (end < 1) return;
  const i64 width = up(end, 16);
#ifdef __AVX512F__
  const vec lanes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, none = vec{} - INFINITY;
  store(r + width - 16, lanes < float(end - width + 16) ? load(r + width - 16) : none);
#else
  std::fill(r + end, r + width, -INFINITY);
#endif
  const float top = row_max(r, width);
  float sum = 0.0f;
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

// P: the probabilities, kept for the way back. out = dropout(P) v
inline void attend(const Head& h, const Drop& drop, HeadRoom& room, float* P, float* out, i64 ldo) {
  const i64 ld = h.ld();
  const float scale = 1.0f / std::sqrt(float(h.E));
  room.fit(h);
  score(h, h.q, h.ldq, h.k, h.ldk, room.packed.data(), P);
  for (i64 i = 0; i < h.tq; ++i) softmax_row(P + i * ld, h.causal ? std::min(i + 1, h.tk) : h.tk, ld, scale);
  const float* weights = P;
  if (drop.thr) {
    drop.row(0, h.tq * ld, room.factor.data());
    const float* f = room.factor.data();
    float* o = room.dropped.data();
#pragma omp simd
    for (i64 j = 0; j < h.tq * ld; ++j) o[j] = P[j] * f[j];
    weights = o;
  }
  gather(h, weights, h.v, h.ldv, out, ldo);
}

// g: the gradient of out. Gives those of q, k and v.
inline void attend_back(const Head& h, const Drop& drop, HeadRoom& room, const float* P, const float* g, i64 ldg,
                        float* dq, i64 lddq, float* dk, i64 lddk, float* dv, i64 lddv) {
  const i64 ld = h.ld();
  const float scale = 1.0f / std::sqrt(float(h.E));
  room.fit(h);
  float *ds = room.slope.data(), *f = room.factor.data();
  const float* pd = P;
  score(h, g, ldg, h.v, h.ldv, room.packed.data(), ds);
  if (drop.thr) drop.row(0, h.tq * ld, f), pd = room.dropped.data();
  for (i64 i = 0; i < h.tq; ++i) {
    const i64 width = h.causal ? std::min(ld, up(i + 1, 16)) : ld;
    const float* r = P + i * ld;
    float *x = ds + i * ld, dot = 0.0f;
    if (drop.thr) {
      float *fi = f + i * ld, *y = room.dropped.data() + i * ld;
#pragma omp simd reduction(+ : dot)
      for (i64 j = 0; j < width; ++j) {
        const float pj = r[j] * fi[j];
        y[j] = pj;
        dot += pj * x[j];
      }
#pragma omp simd
      for (i64 j = 0; j < width; ++j) x[j] = scale * (y[j] * x[j] - r[j] * dot);
      std::fill(y + width, y + std::min(ld, width + 16), 0.0f);
    } else {
#pragma omp simd reduction(+ : dot)
      for (i64 j = 0; j < width; ++j) dot += r[j] * x[j];
#pragma omp simd
      for (i64 j = 0; j < width; ++j) x[j] = scale * r[j] * (x[j] - dot);
    }
    std::fill(x + width, x + std::min(ld, width + 16), 0.0f);  // tiles reach a little over the diagonal
  }
  give(h, pd, g, ldg, dv, lddv);
  gather(h, ds, h.k, h.ldk, dq, lddq);
  give(h, ds, h.q, h.ldq, dk, lddk);
}

// Sentences end to end: rows q_starts[b]..q_starts[b+1] of q look at rows k_starts[b]..k_starts[b+1] of k and v. Row
// strides let q, k, v be column bands of one projection. `rooms` [B] is where a sentence's probabilities begin: H
// matrices [tq, up(tk, 16)].
struct Sentences {
  i64 B, H, E;
  const int32_t *q_starts, *k_starts;
  const i64* rooms;
  const float* q;
  i64 ldq;
  const float* k;
  i64 ldk;
  const float* v;
  i64 ldv;
  int causal;
};

// work(head, its noise, its first row among the queries and among the keys, its first column, its probabilities' place)
template <class Work>
void for_all_heads(const Sentences& s, const Drop& drop, Work work) {
#pragma omp parallel
  {
    HeadRoom room;
#pragma omp for schedule(dynamic, 8)
    for (i64 i = 0; i < s.B * s.H; ++i) {
      const i64 b = i / s.H, e = i % s.H * s.E, q0 = s.q_starts[b], k0 = s.k_starts[b];
      const i64 tq = s.q_starts[b + 1] - q0, tk = s.k_starts[b + 1] - k0;
      const Head h{tq,    tk,    s.E,   s.q + q0 * s.ldq + e, s.k + k0 * s.ldk + e, s.v + k0 * s.ldv + e,
                   s.ldq, s.ldk, s.ldv, s.causal};
      Drop mine = drop;
      mine.stream += u64(i + 1) << 40;
      work(h, mine, room, q0, k0, e, s.rooms[b] + i % s.H * tq * h.ld());
    }
  }
}

// A row of `out` is ldo after the one before.
inline void attend_all(const Sentences& s, const Drop& drop, float* probs, float* out, i64 ldo) {
  for_all_heads(s, drop, [=](const Head& h, const Drop& mine, HeadRoom& room, i64 q0, i64, i64 e, i64 at) {
    attend(h, mine, room, probs + at, out + q0 * ldo + e, ldo);
  });
}

}  // namespace
