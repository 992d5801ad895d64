// A layer's rows and sentences, and which thread takes which of them.
#pragma once
#include <memory>

#include "tiles.h"

namespace {

struct Shape {  // as layer.py lists them
  i64 rows, sentences, width, inner, heads;
  i64 is_causal, is_pre_norm, is_gelu;
  double epsilon, p_attention, p_first, p_inner, p_second;  // of dropout: weights, first sum, inner, second sum
  u64 key_attention, key_first, key_inner, key_second;
  const int32_t* starts;  // of the sentences
  const i64* rooms;       // where each sentence's probabilities begin
};

// What a thread takes of the rows where sentences are long or few: attention is then shared out head by head.
struct Share {
  i64 row, end;
  explicit Share(const Shape& s) {
    const i64 n = omp_get_num_threads(), id = omp_get_thread_num(), tiles = (s.rows + ROWS - 1) / ROWS;
    row = tiles * id / n * ROWS, end = std::min(s.rows, tiles * (id + 1) / n * ROWS);
  }
};

struct Piece {
  i64 row, end, first, last;  // its rows, and its sentences
  std::unique_ptr<Floats> gradients;  // of the parameters, where another thread took it than it was dealt to
};

// Where sentences are short, every thread is dealt whole ones, in pieces: none waits for another's or reads what another
// wrote. Cores are not always equally fast; a thread that has done its pieces takes the last one of whoever has most
// left. Who does a piece must not change a result: what a piece adds to a sum is computed from zero, and added in the
// order of the pieces.
class Deal {
 public:
  bool is_even = true;  // whether threads are dealt pieces at all
  std::vector<Piece> pieces;

  Deal(const Shape& s, int threads) : next(threads), end(threads) {
    for (i64 b = 0; b < s.sentences; ++b) {
      const i64 row = s.starts[b], after = s.starts[b + 1];
      if (pieces.empty() || after - pieces.back().row > STRETCH) pieces.push_back({row, after, b, b + 1, nullptr});
      pieces.back().end = after, pieces.back().last = b + 1;
      is_even = is_even && after - row <= STRETCH;
    }
    i64 most = 0, p = 0;
    for (int t = 0; t < threads; ++t) {
      next[t] = p;
      const i64 row = p ? pieces[p - 1].end : 0, border = s.rows * (t + 1) / threads;
      while (p < i64(pieces.size()) && 2 * border > pieces[p].row + pieces[p].end) ++p;
      end[t] = p;
      most = std::max(most, (p ? pieces[p - 1].end : 0) - row);
    }
    is_even = is_even && threads > 1 && p == i64(pieces.size()) && most * threads <= s.rows + s.rows / 16;
    dealt = next;
    dealt.push_back(p);
  }

  i64 take(int thread) {  // a piece to do; below 0 there is none
    i64 piece = -1;
#pragma omp critical(deal)
    {
      int from = thread;
      if (next[from] == end[from])
        for (int t = 0; t < int(next.size()); ++t)
          if (end[t] - next[t] > end[from] - next[from]) from = t;
      if (next[from] < end[from]) piece = from == thread ? next[from]++ : --end[from];
    }
    return piece;
  }

  bool is_own(int thread, i64 piece) const { return dealt[thread] <= piece && piece < dealt[thread + 1]; }

  template <class Work>
  void for_taken(int thread, Work work) {  // the thread's pieces that others took, in their order
    for (i64 p = dealt[thread]; p < dealt[thread + 1]; ++p)
      if (pieces[p].gradients) work(pieces[p].gradients->data);
  }

 private:
  std::vector<i64> next, end, dealt;
};

// before(row, n), then head(sentence and head), then after(row, n), for all rows; begin(piece) and done(piece) around
// each piece that was dealt.
template <class Begin, class Before, class AtHead, class After, class Done>
void run(const Shape& s, Deal& deal, Begin begin, Before before, AtHead head, After after, Done done) {
  if (deal.is_even) {
    for (i64 p; (p = deal.take(omp_get_thread_num())) >= 0; done(p)) {
      const Piece& one = deal.pieces[p];
      begin(p);
      before(one.row, one.end - one.row);
      for (i64 at = one.first * s.heads; at < one.last * s.heads; ++at) head(at);
      after(one.row, one.end - one.row);
    }
    return;
  }
  const Share share(s);
  for (i64 i = share.row; i < share.end; i += STRETCH) before(i, std::min(STRETCH, share.end - i));
#pragma omp barrier
#pragma omp for schedule(dynamic, 4)
  for (i64 at = 0; at < s.sentences * s.heads; ++at) head(at);
  for (i64 i = share.row; i < share.end; i += STRETCH) after(i, std::min(STRETCH, share.end - i));
}

}  // namespace
