// A text of a language model, word by word: where each stands, how sure the model was of it, and
// what it looked at.
import { type Label, type Matrix, type Reading, labels, mean, merged } from "./table";
import { type Site, type Token, type Trace, doesOf, isSpecial, tokensRead } from "./trace";

export interface StoryWord {
  text: string;
  /** what stands between the word before and this one: spaces, ends of lines */
  gap: string;
  /** places among the tokens of the text */
  places: readonly number[];
  is_special: boolean;
  is_unknown: boolean;
  /** whether it was given, not written */
  isGiven: boolean;
  /** of those of its tokens that were written; null for what nobody predicted */
  logProbability: number | null;
}

/** The tokens of the text in their order: what was read, and the one that was only written. */
export function storyTokens(trace: Trace): readonly Token[] {
  if (doesOf(trace) === "fill") return trace.source.tokens;
  return [...tokensRead(trace.target), ...trace.target.tokens.slice(-1)];
}

const sentenceOf = (trace: Trace) => (doesOf(trace) === "fill" ? trace.source : trace.target);

export function storyWords(trace: Trace, merges: boolean): readonly StoryWord[] {
  const { text } = sentenceOf(trace);
  const isWriting = doesOf(trace) !== "fill";
  const nGiven = isWriting ? trace.source.tokens.length : Number.POSITIVE_INFINITY;
  const all = storyTokens(trace);
  let end = 0;
  return storyLabels(trace, merges).map((label) => {
    const shown = merges || label.is_special ? label.text : spelled(text, all, label);
    const start = label.is_special || shown === "␣" ? -1 : text.indexOf(shown, end);
    const gap = start < 0 ? "" : text.slice(end, start);
    if (start >= 0) end = start + shown.length;
    const written = label.places.filter((place) => place >= nGiven);
    const isGiven = written.length === 0;
    const steps = written.map((place) => trace.steps[place - 1]?.log_probability ?? 0);
    return {
      text: shown,
      gap,
      places: label.places,
      is_special: label.is_special,
      is_unknown: label.is_unknown === true,
      isGiven,
      logProbability: isGiven ? null : steps.reduce((sum, one) => sum + one, 0),
    };
  });
}

const storyLabels = (trace: Trace, merges: boolean): readonly Label[] =>
  labels(sentenceOf(trace), storyTokens(trace), merges);

/** The characters of a token; an end of a line has none that can be seen. */
function spelled(text: string, all: readonly Token[], label: Label): string {
  const token = all[label.places[0] ?? 0];
  if (token === undefined || isSpecial(token)) return label.text;
  // Offsets count characters, as Python does; some characters are two units of JavaScript's.
  return Array.from(text).slice(token.start, token.end).join("").trim() || "␣";
}

/** What each word of the text looks at: rows look, columns are looked at, heads are averaged.
 *
 * A word that is written is written from where the word before it stands: there it looked, unless
 * what it does when it is itself read is asked for. Nobody looked for the first. */
export function storyLooks(
  trace: Trace,
  site: Site,
  head: number | null,
  reading: Reading,
  merges: boolean,
): Matrix {
  const words = storyLabels(trace, merges);
  const weights = head === null ? mean(site.weights) : (site.weights[head] ?? []);
  const back = doesOf(trace) !== "fill" && reading === "predicting" ? 1 : 0;
  const rows = words.map((word) => ({
    ...word,
    places: word.places.map((place) => place - back).filter((place) => place in weights),
  }));
  return merged(weights, rows, words).map((row) =>
    row.map((weight) => (Number.isNaN(weight) ? 0 : weight)),
  );
}

/** The words that one looks at, the most first. */
export function mostLooked(row: readonly number[], count: number): readonly number[] {
  return row
    .map((weight, i) => [weight, i] as const)
    .filter(([weight]) => weight >= 0.005)
    .sort(([a], [b]) => b - a)
    .slice(0, count)
    .map(([, i]) => i);
}
