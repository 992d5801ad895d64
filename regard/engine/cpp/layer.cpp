// Whole layers of a Transformer's encoder, or of GPT: self-attention and feed-forward, each with add & norm, in one
// call forward and one back. Every thread takes blocks of rows through all that is done row by row, so that what one
// step writes the next still finds in the cache; only attention looks across rows.
#include <array>

#include "attention.h"
#include "deal.h"
#include "rows.h"

namespace {

template <class T>
struct Parameters {  // in the order of layer.py; also their gradients
  T *gamma1, *beta1, *query, *query_bias, *key, *key_bias, *value, *value_bias, *out, *out_bias;
  T *gamma2, *beta2, *widen, *widen_bias, *narrow, *narrow_bias;
};
using Weights = Parameters<const float>;
using Gradients = Parameters<float>;

struct Kept {  // what the way back needs, in one piece of memory
  float *qkv, *context, *first, *second, *inner, *slope, *mean1, *rstd1, *mean2, *rstd2, *end;
  Kept(const Shape& s, float* at) {
    const i64 n = s.rows, D = wide(s.width), F = wide(s.inner), line = up(n, 16);
    qkv = at, context = qkv + n * wide(3 * s.width), first = context + n * D;
    second = first + n * D;  // sum before the second norm: of post-norm only
    inner = second + (s.is_pre_norm ? 0 : n * D), slope = inner + n * F;
    mean1 = slope + (s.is_gelu ? n * F : 0), rstd1 = mean1 + line, mean2 = rstd1 + line, rstd2 = mean2 + line;
    end = rstd2 + line;
  }
};

// One head of one sentence: work gets it, its noise, its first row and column, and where its probabilities begin.
template <class Work>
void at_head(const Shape& s, i64 at, const float* qkv, const Drop& drop, Work work) {
  const i64 D = s.width, E = D / s.heads, ld = wide(3 * D);
  const i64 b = at / s.heads, h = at % s.heads, row = s.starts[b], t = s.starts[b + 1] - row;
  const float* q = qkv + row * ld + h * E;
  const Head head{t, t, E, q, q + D, q + 2 * D, ld, ld, ld, int(s.is_causal)};
  Drop mine = drop;
  mine.stream = u64(at + 1) << 40;
  work(head, mine, row, h * E, s.rooms[b] + h * t * head.ld());
}

void pack_transposed(i64 K, i64 N, const float* W, float* packed) {  // of W [N, K]
#pragma omp for schedule(static) nowait
  for (i64 p = 0; p < panels(N); ++p) pack_panel_transposed(p, K, N, W, K, packed);
}

void pack(i64 K, i64 N, const float* W, float* packed, i64 k0 = 0, i64 depth = 0) {  // of W [K, N]
#pragma omp for schedule(static) nowait
  for (i64 p = 0; p < panels(N); ++p) pack_panel(p, K, N, W, N, k0, depth ? depth : K, packed);
}

// dW [M, N] += gᵀ x over some rows; where nothing is there yet, it begins with them
void add_product(i64 rows, i64 M, i64 N, const float* g, i64 ldg, const float* x, i64 ldx, float* dW, bool is_first) {
  product(M, N, rows, {g, ldg, true}, x, ldx, is_first ? First{} : First{dW, N}, dW, N);
}

i64 n_weights(const Shape& s) { return 4 * s.width * s.width + 2 * s.width * s.inner; }

}  // namespace

extern "C" {

i64 k_layer_room(const Shape* s) { return Kept(*s, nullptr).end - static_cast<float*>(nullptr); }

}  // extern "C"

namespace {

// y [rows, width] = the layer of x. kept has room for k_layer_room numbers, probs for all probabilities.
void forward(const Shape& s, const Weights& w, const float* x, float* kept, float* probs, float* y) {
  const Kept k(s, kept);
  const i64 D = s.width, F = s.inner, ldq = wide(3 * D), ld = wide(D), ldf = wide(F);
  const float epsilon = float(s.epsilon);
  const Drop attention(s.key_attention, 0, s.p_attention), first(s.key_first, 0, s.p_first);
  const Drop inner(s.key_inner, 0, s.p_inner), second(s.key_second, 0, s.p_second);
  Floats packed(n_weights(s));
  float *query = packed.data, *key = query + D * D, *value = key + D * D, *out = value + D * D;
  float *widen = out + D * D, *narrow = widen + D * F;
  const int threads = omp_get_max_threads();
  Deal deal(s, threads);
#pragma omp parallel num_threads(threads)
  {
    pack_transposed(D, D, w.query, query);
    pack_transposed(D, D, w.key, key);
    pack_transposed(D, D, w.value, value);
    pack_transposed(D, D, w.out, out);
    pack_transposed(D, F, w.widen, widen);
    pack_transposed(F, D, w.narrow, narrow);
    Floats normed(STRETCH * ld), change(STRETCH * ld), factor(up(std::max(D, F), BLOCK));
    float *n = normed.data, *c = change.data, *f = factor.data;
    HeadRoom room;
#pragma omp barrier
    auto before = [&](i64 i, i64 m) {
      Matrix given{x + i * D, D};
      if (s.is_pre_norm) {
        for (i64 r = 0; r < m; ++r) {
          measure_row(D, x + (i + r) * D, epsilon, k.mean1[i + r], k.rstd1[i + r]);
          norm_row(D, x + (i + r) * D, w.gamma1, w.beta1, k.mean1[i + r], k.rstd1[i + r], n + r * ld);
        }
        given = {n, ld};
      }
      float* qkv = k.qkv + i * ldq;
      product_packed(m, D, D, given, query, {w.query_bias}, qkv, ldq);
      product_packed(m, D, D, given, key, {w.key_bias}, qkv + D, ldq);
      product_packed(m, D, D, given, value, {w.value_bias}, qkv + 2 * D, ldq);
    };
    auto head = [&](i64 at) {
      at_head(s, at, k.qkv, attention, [&](const Head& h, const Drop& drop, i64 row, i64 column, i64 room_at) {
        attend(h, drop, room, probs + room_at, k.context + row * ld + column, ld);
      });
    };
    auto after = [&](i64 i, i64 m) {
      product_packed(m, D, D, {k.context + i * ld, ld}, out, {w.out_bias}, c, ld);
      const float *gamma = s.is_pre_norm ? w.gamma2 : w.gamma1, *beta = s.is_pre_norm ? w.beta2 : w.beta1;
      float *mean = s.is_pre_norm ? k.mean2 : k.mean1, *rstd = s.is_pre_norm ? k.rstd2 : k.rstd1;
      for (i64 r = 0; r < m; ++r) {
        float* sum = k.first + (i + r) * ld;
        add_row(D, x + (i + r) * D, c + r * ld, first, i + r, f, sum);
        measure_row(D, sum, epsilon, mean[i + r], rstd[i + r]);
        norm_row(D, sum, gamma, beta, mean[i + r], rstd[i + r], n + r * ld);
      }
      float *h = k.inner + i * ldf, *slope = k.slope + i * ldf;
      product_packed(m, F, D, {n, ld}, widen, {w.widen_bias}, h, ldf);
      for (i64 r = 0; r < m; ++r) {
        if (inner.thr || !r) inner.row(i + r, F, f);
        if (s.is_gelu)
          gelu_row(F, f, h + r * ldf, slope + r * ldf);
        else
          relu_row(F, f, h + r * ldf);
      }
      product_packed(m, D, F, {h, ldf}, narrow, {w.narrow_bias}, c, ld);
      for (i64 r = 0; r < m; ++r) {
        float* o = y + (i + r) * D;
        if (s.is_pre_norm) {
          add_row(D, k.first + (i + r) * ld, c + r * ld, second, i + r, f, o);
          continue;
        }
        float* sum = k.second + (i + r) * ld;
        add_row(D, n + r * ld, c + r * ld, second, i + r, f, sum);
        measure_row(D, sum, epsilon, k.mean2[i + r], k.rstd2[i + r]);
        norm_row(D, sum, w.gamma2, w.beta2, k.mean2[i + r], k.rstd2[i + r], o);
      }
    };
    auto nothing = [](i64) {};
    run(s, deal, nothing, before, head, after, nothing);
  }
}

i64 n_parameters(const Shape& s) { return n_weights(s) + 9 * s.width + s.inner; }

using Sizes = std::array<i64, 16>;

Sizes sizes(const Shape& s) {  // of the parameters
  const i64 D = s.width, F = s.inner;
  return {D, D, D * D, D, D * D, D, D * D, D, D * D, D, D, D, D * F, F, D * F, D};
}

bool is_matrix(int i) { return i == 2 || i == 4 || i == 6 || i == 8 || i == 12 || i == 14; }

Gradients laid_in(const Shape& s, float* at) {  // the gradients of all parameters, end to end
  Gradients g;
  for (int i = 0; i < 16; ++i) (&g.gamma1)[i] = at, at += sizes(s)[i];
  return g;
}

template <class Work>
void for_sums(const Shape& s, Work work) {  // those that are summed row by row
  const Sizes size = sizes(s);
  for (int i = 0; i < 16; ++i)
    if (!is_matrix(i)) work(i, size[i]);
}

void clear_sums(const Shape& s, const Gradients& g) {
  for_sums(s, [&](int i, i64 n) { std::fill((&g.gamma1)[i], (&g.gamma1)[i] + n, 0.0f); });
}

Gradients summed_at(const Shape& s, Gradients g, float* at) {  // the sums lie elsewhere, and begin with zeros
  for_sums(s, [&](int i, i64 n) { (&g.gamma1)[i] = at, at += n; });
  clear_sums(s, g);
  return g;
}

void add_sums(const Shape& s, const Gradients& from, const Gradients& to, bool is_first) {
  for_sums(s, [&](int i, i64 n) {
    const float* a = (&from.gamma1)[i];
    float* b = (&to.gamma1)[i];
    if (is_first) std::fill(b, b + n, 0.0f);
#pragma omp simd
    for (i64 j = 0; j < n; ++j) b[j] += a[j];
  });
}

void add_to(const Shape& s, const Gradients& from, const Gradients& to) {  // shared out among the threads
  const Sizes size = sizes(s);
  for (int i = 0; i < 16; ++i) {
    const float* a = (&from.gamma1)[i];
    float* b = (&to.gamma1)[i];
#pragma omp for simd schedule(static) nowait
    for (i64 j = 0; j < size[i]; ++j) b[j] += a[j];
  }
}

// From gy, the gradient of y: gx, that of x, and those of the parameters, which are added to what is there.
void backward(const Shape& s, const Weights& w, const float* x, float* kept, const float* probs, const float* gy,
              float* gx, const Gradients& gradients) {
  const Kept k(s, kept);
  const i64 D = s.width, F = s.inner, ldq = wide(3 * D), ld = wide(D), ldf = wide(F);
  const Drop attention(s.key_attention, 0, s.p_attention), first(s.key_first, 0, s.p_first);
  const Drop inner(s.key_inner, 0, s.p_inner), second(s.key_second, 0, s.p_second);
  Floats packed(n_weights(s)), between(s.rows * (2 * ld + ldq));
  float *qkv = packed.data, *out = qkv + 3 * D * D, *widen = out + D * D, *narrow = widen + D * F;
  float *g_first = between.data, *g_context = g_first + s.rows * ld, *g_qkv = g_context + s.rows * ld;
  const int threads = omp_get_max_threads();
  Deal deal(s, threads);
  Floats others((threads - 1) * n_parameters(s));
  auto of_thread = [&](int t) { return t ? laid_in(s, others.data + (t - 1) * n_parameters(s)) : gradients; };
#pragma omp parallel num_threads(threads)
  {
    const int id = omp_get_thread_num();
    const Gradients own = of_thread(id);
    const Share share(s);
    Floats sums(9 * D + F);
    Gradients d = summed_at(s, own, sums.data);
    bool is_begun = !id;               // whether there is anything to add to
    i64 begins = id ? share.row : -1;  // the row whose products are the first of a sum
    pack(D, D, w.query, qkv, 0, 3 * D);
    pack(D, D, w.key, qkv, D, 3 * D);
    pack(D, D, w.value, qkv, 2 * D, 3 * D);
    pack(D, D, w.out, out);
    pack(F, D, w.widen, widen);
    pack(D, F, w.narrow, narrow);
    Floats normed(STRETCH * ld), change(STRETCH * ld), sum(STRETCH * ld), wider(STRETCH * ldf),
        factor(up(std::max(D, F), BLOCK));
    float *n = normed.data, *c = change.data, *gs = sum.data, *gh = wider.data, *f = factor.data;
    HeadRoom room;
#pragma omp barrier
    auto before = [&](i64 i, i64 m) {
      const float *h = k.inner + i * ldf, *slope = s.is_gelu ? k.slope + i * ldf : nullptr;
      for (i64 r = 0; r < m; ++r) {
        const float* g = gy + (i + r) * D;
        if (!s.is_pre_norm) {
          norm_row_back(D, g, k.second + (i + r) * ld, w.gamma2, k.mean2[i + r], k.rstd2[i + r], nullptr, gs + r * ld,
                        d.gamma2, d.beta2);
          g = gs + r * ld;
        }
        drop_row(D, g, second, i + r, f, c + r * ld, d.narrow_bias);
        fetch_row(F, h + r * ldf);
      }
      product_packed(m, F, D, {c, ld}, narrow, {}, gh, ldf);
      add_product(m, D, F, c, ld, h, ldf, d.narrow, begins == i);
      for (i64 r = 0; r < m; ++r)
        activation_row_back(F, slope ? slope + r * ldf : nullptr, h + r * ldf, inner.scale, gh + r * ldf, d.widen_bias);
      const float *gamma = s.is_pre_norm ? w.gamma2 : w.gamma1, *beta = s.is_pre_norm ? w.beta2 : w.beta1;
      const float *mean = s.is_pre_norm ? k.mean2 : k.mean1, *rstd = s.is_pre_norm ? k.rstd2 : k.rstd1;
      for (i64 r = 0; r < m; ++r)
        norm_row(D, k.first + (i + r) * ld, gamma, beta, mean[i + r], rstd[i + r], n + r * ld);
      add_product(m, F, D, gh, ldf, n, ld, d.widen, begins == i);
      product_packed(m, D, F, {gh, ldf}, widen, s.is_pre_norm ? First{} : First{gs, ld}, c, ld);
      for (i64 r = 0; r < m; ++r) {
        norm_row_back(D, c + r * ld, k.first + (i + r) * ld, gamma, mean[i + r], rstd[i + r],
                      s.is_pre_norm ? gy + (i + r) * D : nullptr, g_first + (i + r) * ld,
                      s.is_pre_norm ? d.gamma2 : d.gamma1, s.is_pre_norm ? d.beta2 : d.beta1);
        drop_row(D, g_first + (i + r) * ld, first, i + r, f, c + r * ld, d.out_bias);
        fetch_row(D, k.context + (i + r) * ld);
      }
      product_packed(m, D, D, {c, ld}, out, {}, g_context + i * ld, ld);
      add_product(m, D, D, c, ld, k.context + i * ld, ld, d.out, begins == i);
    };
    auto head = [&](i64 at) {
      at_head(s, at, k.qkv, attention, [&](const Head& h, const Drop& drop, i64 row, i64 column, i64 room_at) {
        float* g = g_qkv + row * ldq + column;
        attend_back(h, drop, room, probs + room_at, g_context + row * ld + column, ld, g, ldq, g + D, ldq, g + 2 * D,
                    ldq);
      });
    };
    auto after = [&](i64 i, i64 m) {
      const float* g = g_qkv + i * ldq;
      const float* given = x + i * D;
      i64 ldx = D;
      if (s.is_pre_norm) {
        for (i64 r = 0; r < m; ++r)
          norm_row(D, x + (i + r) * D, w.gamma1, w.beta1, k.mean1[i + r], k.rstd1[i + r], n + r * ld);
        given = n, ldx = ld;
      }
      add_product(m, D, D, g, ldq, given, ldx, d.query, begins == i);
      add_product(m, D, D, g + D, ldq, given, ldx, d.key, begins == i);
      add_product(m, D, D, g + 2 * D, ldq, given, ldx, d.value, begins == i);
      for (i64 r = 0; r < m; ++r) {
        const float* gr = g + r * ldq;
#pragma omp simd
        for (i64 j = 0; j < D; ++j) {
          d.query_bias[j] += gr[j];
          d.key_bias[j] += gr[D + j];
          d.value_bias[j] += gr[2 * D + j];
        }
      }
      if (!s.is_pre_norm) return product_packed(m, D, 3 * D, {g, ldq}, qkv, {g_first + i * ld, ld}, gx + i * D, D);
      product_packed(m, D, 3 * D, {g, ldq}, qkv, {}, c, ld);
      for (i64 r = 0; r < m; ++r)
        norm_row_back(D, c + r * ld, x + (i + r) * D, w.gamma1, k.mean1[i + r], k.rstd1[i + r], g_first + (i + r) * ld,
                      gx + (i + r) * D, d.gamma1, d.beta1);
    };
    auto begin = [&](i64 p) {
      Piece& piece = deal.pieces[p];
      begins = is_begun && deal.is_own(id, p) ? -1 : piece.row;
      if (deal.is_own(id, p)) {
        d = summed_at(s, own, sums.data);
        return;
      }
      piece.gradients.reset(new Floats(n_parameters(s)));
      d = laid_in(s, piece.gradients->data);
      clear_sums(s, d);
    };
    auto done = [&](i64 p) {
      if (!deal.is_own(id, p)) return;
      add_sums(s, d, own, !is_begun);
      is_begun = true;
    };
    run(s, deal, begin, before, head, after, done);
    if (!deal.is_even && share.row < share.end) add_sums(s, d, own, !is_begun), is_begun = true;
    if (!is_begun) std::fill(own.gamma1, own.gamma1 + n_parameters(s), 0.0f);
    for (int t = omp_get_num_threads(); t < threads && !id; ++t)
      std::fill(of_thread(t).gamma1, of_thread(t).gamma1 + n_parameters(s), 0.0f);
#pragma omp barrier
    // Each number is added up by one thread all the way, so they need not wait for each other in between.
    for (int t = 0; t < threads; ++t) {
      deal.for_taken(t, [&](float* taken) { add_to(s, laid_in(s, taken), of_thread(t)); });
      if (t) add_to(s, of_thread(t), gradients);
    }
#pragma omp barrier
  }
}

}  // namespace

extern "C" {

// Of kernels.cpp.
void k_add_norm(i64 n, i64 d, const float* x, const float* y, const float* gamma, const float* beta, double eps,
                u64 seed, u64 stream, double p, float* res, float* out, float* mean, float* rstd);
void k_add_norm_back(i64 n, i64 d, const float* g_out, const float* g_res, const float* res, const float* gamma,
                     const float* mean, const float* rstd, u64 seed, u64 stream, double p, float* dx, float* dy,
                     float* dgamma, float* dbeta, float* dbias);

struct Norm {  // what may end a stack; gamma is null where nothing does. As layer.py lists them
  const float *gamma, *beta;
  double epsilon;
  float *out, *mean, *rstd;
};

// y [layers, rows, width] = what each layer makes of the one before it, the first of x. What a layer keeps for the way
// back begins `of_kept` after the one before, its probabilities `of_probs`.
void k_layers(i64 layers, const Shape* shapes, const Weights* weights, i64 of_kept, i64 of_probs, const float* x,
              float* kept, float* probs, float* y, const Norm* norm) {
  const i64 size = shapes->rows * shapes->width;
  for (i64 i = 0; i < layers; ++i)
    forward(shapes[i], weights[i], i ? y + (i - 1) * size : x, kept + i * of_kept, probs + i * of_probs, y + i * size);
  if (norm->gamma)
    k_add_norm(shapes->rows, shapes->width, y + (layers - 1) * size, nullptr, norm->gamma, norm->beta, norm->epsilon, 0, 0,
               0.0, nullptr, norm->out, norm->mean, norm->rstd);
}

// From gy, the gradient of what came out: gx, that of x, and those of all parameters, the norm's two after the layers'.
void k_layers_back(i64 layers, const Shape* shapes, const Weights* weights, i64 of_kept, i64 of_probs, const float* x,
                   float* kept, const float* probs, const float* y, const Norm* norm, const float* gy, float* gx,
                   const Gradients* gradients) {
  const i64 width = shapes->width, size = shapes->rows * width;
  Floats room(2 * size), sums(2 * width);
  if (norm->gamma) {
    float *const *of_norm = &gradients[layers].gamma1, *g = room.data + layers % 2 * size;
    k_add_norm_back(shapes->rows, width, gy, nullptr, y + (layers - 1) * size, norm->gamma, norm->mean, norm->rstd, 0, 0,
                    0.0, g, nullptr, sums.data, sums.data + width, nullptr);
    for (i64 j = 0; j < width; ++j) of_norm[0][j] += sums.data[j], of_norm[1][j] += sums.data[width + j];
    gy = g;
  }
  for (i64 i = layers - 1; i >= 0; --i) {
    float* g = i ? room.data + i % 2 * size : gx;
    backward(shapes[i], weights[i], i ? y + (i - 1) * size : x, kept + i * of_kept, probs + i * of_probs, gy, g,
             gradients[i]);
    gy = g;
  }
}

}  // extern "C"
