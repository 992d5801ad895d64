// The lectures' worked example: Thinking and Machines look at each other; 112 and 96 come out.
import { type Arithmetic, computed } from "./arithmetic";

export const WORDS = ["Thinking", "Machines"] as const;
const WIDTH = 64;
const EMBEDDINGS = [
  [1, 1, 0, 2, 1, 1, 0, 1],
  [0, 1, 0, 2, 0, 1, 2, 1],
] as const;
/** For each head: which neighbours of a feature are added up to make the new one. */
const SHIFTS = {
  query: [[1], [0]],
  key: [
    [1, 2],
    [2, 6],
  ],
  value: [[0], [3, 5]],
} as const;

/** (x W)ⱼ = Σₛ xⱼ₋ₛ, counted around; the eight numbers repeat up to the head's width. */
function shifted(word: readonly number[], shifts: readonly number[]): number[] {
  const period = word.length;
  return Array.from({ length: WIDTH }, (_, j) =>
    shifts.reduce((sum, shift) => sum + (word[(j - shift + period * 8) % period] ?? 0), 0),
  );
}

export function lecture(row: number, column: number, head = 0): Arithmetic {
  const of = (name: keyof typeof SHIFTS): number[][] =>
    EMBEDDINGS.map((word) => shifted(word, SHIFTS[name][head] ?? []));
  return computed({
    query: of("query")[row] ?? [],
    keys: of("key"),
    values: of("value"),
    maySee: [true, true],
    column,
    rowLabel: WORDS[row] ?? "",
    labels: WORDS,
  });
}
