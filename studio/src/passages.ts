// A long text cut into runs of like weight: what is coloured beside the strip, and what can be found.
import { type Label, type Matrix } from "./table";
import { type Sentence } from "./trace";

/** From so many tokens on, a text is shown by its passages. */
export const LONG = 150;
/** Of more, no matrix can be seen. */
export const LONGER = 600;
/** Shades of a run, 0 being none. */
export const LEVELS = 8;

const MOST_WORDS = 40; // of a run: what is scrolled to
const FAINT = 0.04; // of the largest weight: what is not coloured
const AROUND = 6; // words to each side, where a passage is told

export interface Run {
  /** words from and to, the last excluded */
  from: number;
  to: number;
  level: number;
  text: string;
}

export interface Passage {
  /** its word with the largest weight */
  word: number;
  share: number;
  text: string;
}

/** How much each word was looked at: by one place of the target, or by whichever did so most. */
export function lookedAt(
  heads: readonly Matrix[],
  words: readonly Label[],
  rows: readonly number[] | null,
): readonly number[] {
  const places = rows ?? (heads[0] ?? []).map((_, row) => row);
  const of = (row: number, label: Label): number => {
    let total = 0;
    for (const head of heads) for (const j of label.places) total += head[row]?.[j] ?? 0;
    return total / Math.max(1, heads.length);
  };
  return words.map((label) => {
    const found = places.map((row) => of(row, label));
    if (rows === null) return Math.max(0, ...found);
    return found.reduce((total, one) => total + one, 0) / Math.max(1, found.length);
  });
}

const textOf = (characters: readonly string[], words: readonly Label[], from: number, to: number) =>
  characters
    .slice(words[from]?.span?.[0] ?? 0, words[to]?.span?.[0] ?? words[to - 1]?.span?.[1] ?? 0)
    .join("");

/** The text in runs; all of them one after the other are all of it. */
export function runsOf(
  sentence: Sentence,
  words: readonly Label[],
  weights: readonly number[],
): readonly Run[] {
  const characters = Array.from(sentence.text);
  const most = weights.reduce((one, other) => Math.max(one, other), 1e-9);
  const level = (i: number): number => {
    const share = (weights[i] ?? 0) / most;
    return share < FAINT ? 0 : Math.max(1, Math.ceil(share * LEVELS));
  };
  const found: Run[] = [];
  let from = 0;
  for (let i = 1; i <= words.length; i++) {
    if (i < words.length && i - from < MOST_WORDS && level(i) === level(from)) continue;
    found.push({ from, to: i, level: level(from), text: textOf(characters, words, from, i) });
    from = i;
  }
  return found;
}

/** Largest first, each with what stands around it; none within another. */
export function passagesOf(
  sentence: Sentence,
  words: readonly Label[],
  weights: readonly number[],
  n = 5,
): readonly Passage[] {
  const characters = Array.from(sentence.text);
  const order = weights.map((_, i) => i).sort((a, b) => (weights[b] ?? 0) - (weights[a] ?? 0));
  const found: Passage[] = [];
  for (const word of order) {
    if (found.length === n || (weights[word] ?? 0) <= 0) break;
    if (found.some((one) => Math.abs(one.word - word) <= 2 * AROUND)) continue;
    const [from, to] = [Math.max(0, word - AROUND), Math.min(words.length, word + AROUND + 1)];
    const text = textOf(characters, words, from, to).trim();
    found.push({ word, share: weights[word] ?? 0, text });
  }
  return found;
}

/** The largest weight that falls on each of n bins of the text. */
export function binned(weights: readonly number[], n: number): readonly number[] {
  const found = new Array<number>(n).fill(0);
  weights.forEach((weight, i) => {
    // Of a short text a word is several bins wide.
    const first = Math.floor((i * n) / weights.length);
    const last = Math.max(first + 1, Math.floor(((i + 1) * n) / weights.length));
    for (let bin = first; bin < Math.min(n, last); bin++) {
      found[bin] = Math.max(found[bin] ?? 0, weight);
    }
  });
  return found;
}
