// Whole layers of a Transformer's encoder, or of GPT: self-attention and feed-forward, each with add & norm, in one
// call forward and one back. Every thread takes blocks of rows through all that is done row by row, so that what one
// step writes the next still finds in the cache; only attention looks across rows.
#include "attention.h"

namespace {

struct Shape {  // as layer.py lists them
  i64 rows, sentences, width, inner, heads;
  i64 is_causal, is_pre_norm, is_gelu;
  double epsilon, p_attention, p_first, p_inner, p_second;  // of dropout: weights, first sum, inner, second sum
  u64 key_attention, key_first, key_inner, key_second;
  const int32_t* starts;  // of the sentences
  const i64* rooms;       // where each sentence's probabilities begin
};

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

// What a thread takes of the rows. Where sentences can be dealt out evenly it takes whole ones, and no thread waits for
// another's or reads what another wrote; elsewhere attention is shared out head by head.
struct Share {
  i64 row, end, first, last;  // its rows, and its sentences
  bool is_whole;
  explicit Share(const Shape& s) {
    const i64 n = omp_get_num_threads(), id = omp_get_thread_num(), tiles = (s.rows + ROWS - 1) / ROWS;
    i64 most = 0;
    for (i64 t = 0; t < n; ++t) most = std::max(most, s.starts[border(s, n, t + 1)] - i64(s.starts[border(s, n, t)]));
    is_whole = most * n <= s.rows + s.rows / 16;
    first = border(s, n, id), last = border(s, n, id + 1);
    row = is_whole ? s.starts[first] : tiles * id / n * ROWS;
    end = is_whole ? s.starts[last] : std::min(s.rows, tiles * (id + 1) / n * ROWS);
  }

 private:
  static i64 border(const Shape& s, i64 n, i64 t) {  // the sentence that begins nearest to t of n equal parts
    const i64 place = s.rows * t / n;
    const i64 after = std::lower_bound(s.starts, s.starts + s.sentences, int32_t(place)) - s.starts;
    return after && place - s.starts[after - 1] < s.starts[after] - place ? after - 1 : after;
  }
};

template <class Work>
void in_blocks(const Share& share, Work work) {
  for (i64 i = share.row; i < share.end; i += STRETCH) work(i, std::min(STRETCH, share.end - i));
}

template <class Work>
void for_heads(const Shape& s, const Share& share, const float* qkv, const Drop& drop, Work work) {
  const i64 D = s.width, E = D / s.heads, ld = wide(3 * D);
  auto one = [&](i64 at) {
    const i64 b = at / s.heads, h = at % s.heads, row = s.starts[b], t = s.starts[b + 1] - row;
    const float* q = qkv + row * ld + h * E;
    const Head head{t, t, E, q, q + D, q + 2 * D, ld, ld, ld, int(s.is_causal)};
    Drop mine = drop;
    mine.stream = u64(at + 1) << 40;
    work(head, mine, row, h * E, s.rooms[b] + h * t * head.ld());
  };
  if (share.is_whole) {
    for (i64 at = share.first * s.heads; at < share.last * s.heads; ++at) one(at);
    return;
  }
#pragma omp barrier
#pragma omp for schedule(dynamic, 4)
  for (i64 at = 0; at < s.sentences * s.heads; ++at) one(at);
}

void pack_transposed(i64 K, i64 N, const float* W, float* packed) {  // of W [N, K]
#pragma omp for schedule(static) nowait
  for (i64 p = 0; p < panels(N); ++p) pack_panel_transposed(p, K, N, W, K, packed);
}

void pack(i64 K, i64 N, const float* W, float* packed, i64 k0 = 0, i64 depth = 0) {  // of W [K, N]
#pragma omp for schedule(static) nowait
  for (i64 p = 0; p < panels(N); ++p) pack_panel(p, K, N, W, N, k0, depth ? depth : K, packed);
}

// out = the gradient of what was normed (+ more, where given), and those of gamma and beta
void norm_row_back(i64 d, const float* g, const float* x, const float* gamma, float mean, float rstd, const float* more,
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

void add_row(i64 d, const float* x, const float* change, const Drop& drop, i64 row, float* factor, float* out) {
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
void drop_row(i64 d, const float* g, const Drop& drop, i64 row, float* factor, float* out, float* sum) {
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

void relu_row(i64 d, const float* factor, float* x) {
#pragma omp simd
  for (i64 j = 0; j < d; ++j) x[j] = std::max(x[j], 0.0f) * factor[j];
}

void gelu_row(i64 d, const float* factor, float* x, float* slope) {
#pragma omp simd
  for (i64 j = 0; j < d; ++j) {
    const Gelu g(x[j]);
    x[j] = g.value * factor[j];
    slope[j] = g.slope * factor[j];
  }
}

// g becomes the gradient before the activation, and is summed
void activation_row_back(i64 d, const float* slope, const float* inner, float scale, float* g, float* sum) {
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
void fetch_row(i64 d, const float* x) {
  for (i64 j = 0; j < d; j += 16) __builtin_prefetch(x + j);
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
#pragma omp parallel
  {
    const Share share(s);
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
    in_blocks(share, [&](i64 i, i64 m) {
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
    });
    for_heads(s, share, k.qkv, attention, [&](const Head& h, const Drop& drop, i64 row, i64 column, i64 at) {
      attend(h, drop, room, probs + at, k.context + row * ld + column, ld);
    });
    in_blocks(share, [&](i64 i, i64 m) {
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
    });
  }
}

i64 n_parameters(const Shape& s) { return n_weights(s) + 9 * s.width + s.inner; }

Gradients laid_in(const Shape& s, float* at) {  // the gradients of all parameters, end to end
  const i64 D = s.width, F = s.inner;
  Gradients g;
  float** to[] = {&g.gamma1, &g.beta1,    &g.query,  &g.query_bias, &g.key,   &g.key_bias,   &g.value,  &g.value_bias,
                  &g.out,    &g.out_bias, &g.gamma2, &g.beta2,      &g.widen, &g.widen_bias, &g.narrow, &g.narrow_bias};
  const i64 size[] = {D, D, D * D, D, D * D, D, D * D, D, D * D, D, D, D, D * F, F, D * F, D};
  for (int i = 0; i < 16; ++i) *to[i] = at, at += size[i];
  return g;
}

// A thread's own gradients: products write the matrices, and what is summed row by row begins with zeros.
Gradients begun(const Shape& s, const Share& share, float* at) {
  const Gradients g = laid_in(s, at);
  if (share.row == share.end) std::fill(at, at + n_parameters(s), 0.0f);
  for (float* one : {g.gamma1, g.beta1, g.gamma2, g.beta2, g.query_bias, g.key_bias, g.value_bias, g.out_bias,
                     g.narrow_bias})
    std::fill(one, one + s.width, 0.0f);
  std::fill(g.widen_bias, g.widen_bias + s.inner, 0.0f);
  return g;
}

void add_to(const Shape& s, const Gradients& from, const Gradients& to) {  // shared out among the threads
  const i64 D = s.width, F = s.inner;
  const i64 size[] = {D, D, D * D, D, D * D, D, D * D, D, D * D, D, D, D, D * F, F, D * F, D};
  float* const* source = &from.gamma1;
  float* const* target = &to.gamma1;
  for (int i = 0; i < 16; ++i) {
    const float* a = source[i];
    float* b = target[i];
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
  Floats others((threads - 1) * n_parameters(s));
#pragma omp parallel num_threads(threads)
  {
    const int id = omp_get_thread_num();
    const Share share(s);
    Gradients d = gradients;
    if (id) d = begun(s, share, others.data + (id - 1) * n_parameters(s));
    auto is_first = [&](i64 i) { return id && i == share.row; };
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
    in_blocks(share, [&](i64 i, i64 m) {
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
      add_product(m, D, F, c, ld, h, ldf, d.narrow, is_first(i));
      for (i64 r = 0; r < m; ++r)
        activation_row_back(F, slope ? slope + r * ldf : nullptr, h + r * ldf, inner.scale, gh + r * ldf, d.widen_bias);
      const float *gamma = s.is_pre_norm ? w.gamma2 : w.gamma1, *beta = s.is_pre_norm ? w.beta2 : w.beta1;
      const float *mean = s.is_pre_norm ? k.mean2 : k.mean1, *rstd = s.is_pre_norm ? k.rstd2 : k.rstd1;
      for (i64 r = 0; r < m; ++r)
        norm_row(D, k.first + (i + r) * ld, gamma, beta, mean[i + r], rstd[i + r], n + r * ld);
      add_product(m, F, D, gh, ldf, n, ld, d.widen, is_first(i));
      product_packed(m, D, F, {gh, ldf}, widen, s.is_pre_norm ? First{} : First{gs, ld}, c, ld);
      for (i64 r = 0; r < m; ++r) {
        norm_row_back(D, c + r * ld, k.first + (i + r) * ld, gamma, mean[i + r], rstd[i + r],
                      s.is_pre_norm ? gy + (i + r) * D : nullptr, g_first + (i + r) * ld,
                      s.is_pre_norm ? d.gamma2 : d.gamma1, s.is_pre_norm ? d.beta2 : d.beta1);
        drop_row(D, g_first + (i + r) * ld, first, i + r, f, c + r * ld, d.out_bias);
        fetch_row(D, k.context + (i + r) * ld);
      }
      product_packed(m, D, D, {c, ld}, out, {}, g_context + i * ld, ld);
      add_product(m, D, D, c, ld, k.context + i * ld, ld, d.out, is_first(i));
    });
    for_heads(s, share, k.qkv, attention, [&](const Head& h, const Drop& drop, i64 row, i64 column, i64 at) {
      float* g = g_qkv + row * ldq + column;
      attend_back(h, drop, room, probs + at, g_context + row * ld + column, ld, g, ldq, g + D, ldq, g + 2 * D, ldq);
    });
    in_blocks(share, [&](i64 i, i64 m) {
      const float* g = g_qkv + i * ldq;
      const float* given = x + i * D;
      i64 ldx = D;
      if (s.is_pre_norm) {
        for (i64 r = 0; r < m; ++r)
          norm_row(D, x + (i + r) * D, w.gamma1, w.beta1, k.mean1[i + r], k.rstd1[i + r], n + r * ld);
        given = n, ldx = ld;
      }
      add_product(m, D, D, g, ldq, given, ldx, d.query, is_first(i));
      add_product(m, D, D, g + D, ldq, given, ldx, d.key, is_first(i));
      add_product(m, D, D, g + 2 * D, ldq, given, ldx, d.value, is_first(i));
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
    });
#pragma omp barrier
    for (int t = 1; t < omp_get_num_threads(); ++t) {
      add_to(s, laid_in(s, others.data + (t - 1) * n_parameters(s)), gradients);
#pragma omp barrier
    }
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

// Attention alone, over packed sentences: rows cu_q[b]..cu_q[b+1] of q against rows cu_k[b]..cu_k[b+1] of k and v.
// Row strides ldq, ldk, ldv let q, k, v be column bands of one projection. `at` [B] is where a sentence's
// probabilities start in probs: H matrices [Tq, up(Tk, 16)]. E is a multiple of 16.
void k_attention(i64 B, i64 H, i64 E, const int32_t* cu_q, const int32_t* cu_k, const i64* at, const float* q, i64 ldq,
                 const float* k, i64 ldk, const float* v, i64 ldv, int causal, u64 seed, u64 stream, double p,
                 float* probs, float* out) {
#pragma omp parallel
  {
    HeadRoom room;
#pragma omp for schedule(dynamic, 8)
    for (i64 i = 0; i < B * H; ++i) {
      const i64 b = i / H, e = i % H * E, q0 = cu_q[b], tq = cu_q[b + 1] - q0, k0 = cu_k[b], tk = cu_k[b + 1] - k0;
      const Head h{tq, tk, E, q + q0 * ldq + e, k + k0 * ldk + e, v + k0 * ldv + e, ldq, ldk, ldv, causal};
      attend(h, {seed, stream + (u64(i + 1) << 40), p}, room, probs + at[b] + i % H * tq * h.ld(),
             out + q0 * H * E + e, H * E);
    }
  }
}

void k_attention_back(i64 B, i64 H, i64 E, const int32_t* cu_q, const int32_t* cu_k, const i64* at, const float* q,
                      i64 ldq, const float* k, i64 ldk, const float* v, i64 ldv, int causal, u64 seed, u64 stream,
                      double p, const float* probs, const float* g, float* dq, i64 lddq, float* dk, i64 lddk, float* dv,
                      i64 lddv) {
#pragma omp parallel
  {
    HeadRoom room;
#pragma omp for schedule(dynamic, 8)
    for (i64 i = 0; i < B * H; ++i) {
      const i64 b = i / H, e = i % H * E, q0 = cu_q[b], tq = cu_q[b + 1] - q0, k0 = cu_k[b], tk = cu_k[b + 1] - k0;
      const Head h{tq, tk, E, q + q0 * ldq + e, k + k0 * ldk + e, v + k0 * ldv + e, ldq, ldk, ldv, causal};
      attend_back(h, {seed, stream + (u64(i + 1) << 40), p}, room, probs + at[b] + i % H * tq * h.ld(),
                  g + q0 * H * E + e, H * E, dq + q0 * lddq + e, lddq, dk + k0 * lddk + e, lddk, dv + k0 * lddv + e, lddv);
    }
  }
}

}  // extern "C"
