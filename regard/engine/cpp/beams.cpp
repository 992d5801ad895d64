// A whole beam search in few calls: the interpreter is free for others meanwhile.
//
// It computes what decoding/beam.py says, in the same order, so that the two agree.
#include "decoding.h"

namespace {

struct Question {  // as beams.py lists it
  i64 n_sources, width, n_best, most, least, no_repeat, n_prefix;
  i64 padding, begin, end;
  const i64 *longest, *prefixes;  // [n_sources], [n_sources, n_prefix]: padding where an output is free
  const double* penalties;        // [most + 1], by length
  const i64* tokens;              // [stack.V], ascending: what the rows of the output are, or null: all
};

using Places = std::vector<int32_t>;

struct Prefix {
  double total;
  std::vector<i64> tokens;  // that which begins outputs first
  Places written;           // where the keys and values of all but the last token lie
};

struct Complete {
  double total, score;
  std::vector<i64> tokens;  // that which ends outputs last
};

struct Beam {
  i64 source;
  std::vector<Prefix> live;    // best first
  std::vector<Complete> done;  // best first
};

struct Candidate {
  double total;
  i64 parent, token;
};

class Beams {
 public:
  // source[l]: rows of keys and values side by side; source i sees rows source_places[i, 0..S), those below 0 excepted.
  Beams(const Stack& stack, const Words& words, const Question& asked, const float* const* source,
        const int32_t* source_places, i64 S)
      : stack(stack), words(words), asked(asked), source(source, source + stack.n_layers),
        source_places(source_places), S(S), written(stack.n_layers) {
    for (i64 s = 0; s < asked.n_sources; ++s) beams.push_back({s, {{0.0, {asked.begin}, {}}}, {}});
  }

  std::vector<double> told;  // of each source that has ended: its number, how many outputs, and of each output its
                             // log-probability, its score, how many tokens, and these

  void advance(i64 n_steps) {  // some steps, until sources end
    told.clear();
    for (i64 i = 0; i < n_steps && told.empty() && !beams.empty(); ++i) {
      step();
      extend();
      for (const Beam& beam : beams)
        if (beam.live.empty()) tell(beam);
      const auto has_ended = [](const Beam& beam) { return beam.live.empty(); };
      beams.erase(std::remove_if(beams.begin(), beams.end(), has_ended), beams.end());
    }
  }

 private:
  const Stack stack;
  const Words words;
  const Question asked;
  const std::vector<const float*> source;
  const int32_t* source_places;
  const i64 S;
  std::vector<std::vector<float>> written;  // keys and values of each layer, a row for each prefix of each step
  i64 n_written = 0;                        // rows of them
  i64 length = 0;                           // of the outputs with the token to come, that which begins not counted
  std::vector<Beam> beams;
  std::vector<float> embedded, logits, best;
  std::vector<double> sums;
  std::vector<i64> ids;
  Places places, looked_at;

  i64 token(i64 row) const { return asked.tokens ? asked.tokens[row] : row; }

  i64 row_of(i64 token) const {  // of the output; a token that is none of its rows is never asked for
    return asked.tokens ? std::lower_bound(asked.tokens, asked.tokens + stack.V, token) - asked.tokens : token;
  }

  i64 k() const { return std::min(asked.width, stack.V); }

  void step() {  // one more word a row through the decoder: logits, and the keys and values of the word
    const i64 D = stack.D, T = length + 1;
    i64 R = 0;
    for (const Beam& beam : beams) R += i64(beam.live.size());
    embedded.resize(R * D), logits.resize(R * stack.V);
    places.resize(R * T), looked_at.resize(R * S);
    i64 r = 0;
    for (Beam& beam : beams)
      for (Prefix& prefix : beam.live) {
        prefix.written.push_back(int32_t(n_written + r));
        std::copy(prefix.written.begin(), prefix.written.end(), places.begin() + r * T);
        std::copy_n(source_places + beam.source * S, S, looked_at.begin() + r * S);
        embed(words, D, prefix.tokens.back(), length, embedded.data() + r++ * D);
      }
    std::vector<float*> rows;
    for (auto& layer : written) {
      const i64 wanted = (n_written + R) * 2 * D;
      if (i64(layer.size()) < wanted) layer.resize(2 * wanted);
      rows.push_back(layer.data());
    }
    k_decoder_step(&stack, R, rows.data(), n_written, places.data(), T, source.data(), looked_at.data(), S,
                   embedded.data(), logits.data());
    n_written += R;
    ++length;
  }

  void extend() {  // every prefix by its best tokens, of which each beam keeps the best
    std::vector<std::pair<const Beam*, const Prefix*>> rows;
    for (const Beam& beam : beams)
      for (const Prefix& prefix : beam.live) rows.push_back({&beam, &prefix});
    const i64 R = i64(rows.size());
    sums.resize(R), best.resize(R * k()), ids.resize(R * k());
#pragma omp parallel for
    for (i64 r = 0; r < R; ++r) {
      float* row = logits.data() + r * stack.V;
      sums[r] = log_sum_exp(stack.V, row);
      choose(*rows[r].first, *rows[r].second, row, best.data() + r * k(), ids.data() + r * k());
    }
    i64 first = 0;
    for (Beam& beam : beams) {
      const i64 n = i64(beam.live.size());
      keep(beam, first);
      first += n;
    }
  }

  // The best tokens that may follow a prefix. How an output must begin counts more than every other rule, the limit
  // more than the least length.
  void choose(const Beam& beam, const Prefix& prefix, float* row, float* value, i64* id) const {
    const i64 n = asked.n_prefix, forced = length <= n ? asked.prefixes[beam.source * n + length - 1] : asked.padding;
    if (forced != asked.padding || length >= asked.longest[beam.source]) {
      std::fill(value, value + k(), -INFINITY);
      std::fill(id, id + k(), 0);
      id[0] = forced != asked.padding ? forced : asked.end;
      value[0] = row[row_of(id[0])];
      return;
    }
    row[row_of(asked.padding)] = row[row_of(asked.begin)] = -INFINITY;
    if (length <= asked.least) row[row_of(asked.end)] = -INFINITY;
    if (asked.no_repeat) rule_out_repeats(prefix.tokens, row);
    largest(stack.V, k(), row, value, id);
    for (i64 j = 0; j < k(); ++j) id[j] = token(id[j]);
  }

  void rule_out_repeats(const std::vector<i64>& tokens, float* row) const {
    const i64 n = asked.no_repeat;
    for (i64 at = 1; at + n <= i64(tokens.size()); ++at)
      if (std::equal(tokens.begin() + at, tokens.begin() + at + n - 1, tokens.end() - (n - 1)))
        row[row_of(tokens[at + n - 1])] = -INFINITY;
  }

  void keep(Beam& beam, i64 first) const {
    std::vector<Candidate> candidates;
    for (i64 p = 0; p < i64(beam.live.size()); ++p)
      for (i64 j = (first + p) * k(); j < (first + p + 1) * k(); ++j) {
        const double total = beam.live[p].total + (double(best[j]) - sums[first + p]);
        if (total > -INFINITY) candidates.push_back({total, p, ids[j]});  // a broken model may give NaN
      }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.total > b.total; });
    if (i64(candidates.size()) > asked.width) candidates.resize(asked.width);
    for (const Candidate& one : candidates)
      if (one.token == asked.end) finish(beam, one);
    const double least = i64(beam.done.size()) < asked.n_best ? -INFINITY : beam.done.back().score;
    std::vector<Prefix> live;
    for (const Candidate& one : candidates) {
      const bool is_hopeless = one.total / asked.penalties[asked.longest[beam.source]] <= least;
      if (one.token == asked.end || is_hopeless) continue;
      live.push_back(beam.live[one.parent]);
      live.back().total = one.total;
      live.back().tokens.push_back(one.token);
    }
    beam.live = std::move(live);
  }

  void finish(Beam& beam, const Candidate& one) const {
    Complete complete{one.total, one.total / asked.penalties[length], beam.live[one.parent].tokens};
    complete.tokens.push_back(one.token);
    auto at = beam.done.begin();
    while (at != beam.done.end() && at->score >= complete.score) ++at;
    beam.done.insert(at, std::move(complete));
    if (i64(beam.done.size()) > asked.n_best) beam.done.pop_back();
  }

  void tell(const Beam& beam) {
    told.insert(told.end(), {double(beam.source), double(beam.done.size())});
    for (const Complete& one : beam.done) {
      told.insert(told.end(), {one.total, one.score, double(one.tokens.size() - 2)});
      told.insert(told.end(), one.tokens.begin() + 1, one.tokens.end() - 1);
    }
  }
};

}  // namespace

extern "C" {

void* k_beams_begin(const Stack* stack, const Words* words, const Question* asked, const float* const* source,
                    const int32_t* source_places, i64 S) {
  return new Beams(*stack, *words, *asked, source, source_places, S);
}

// How many numbers are told of the sources that have ended; they stand at `told` until the next call.
i64 k_beams_advance(void* beams, i64 n_steps, const double** told) {
  Beams& advanced = *static_cast<Beams*>(beams);
  advanced.advance(n_steps);
  *told = advanced.told.data();
  return i64(advanced.told.size());
}

void k_beams_end(void* beams) { delete static_cast<Beams*>(beams); }
}
