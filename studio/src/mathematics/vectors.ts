// Vectors and matrices as plain arrays; small enough that nothing faster is needed.

export type Vector = readonly number[];
export type Rows = readonly Vector[];

export const total = (values: Vector): number => values.reduce((sum, value) => sum + value, 0);

export const products = (a: Vector, b: Vector): number[] =>
  a.map((value, i) => value * (b[i] ?? 0));

export const dot = (a: Vector, b: Vector): number => total(products(a, b));

export const times = (matrix: Rows, vector: Vector): number[] =>
  matrix.map((row) => dot(row, vector));

export const norm = (vector: Vector): number => Math.sqrt(dot(vector, vector));

/** exp(eᵢ) / Σⱼ exp(eⱼ) over the places that may be seen; zeros where nothing may. */
export function softmax(scores: Vector, maySee?: readonly boolean[]): number[] {
  const seen = scores.map((_, i) => maySee?.[i] ?? true);
  const largest = Math.max(...scores.filter((_, i) => seen[i]));
  const powers = scores.map((score, i) => (seen[i] ? Math.exp(score - largest) : 0));
  const sum = total(powers);
  return powers.map((power) => (sum > 0 ? power / sum : 0));
}

/** Σⱼ weightsⱼ valuesⱼ */
export function weightedSum(weights: Vector, values: Rows): number[] {
  const width = values[0]?.length ?? 0;
  return Array.from({ length: width }, (_, d) =>
    total(values.map((value, j) => (weights[j] ?? 0) * (value[d] ?? 0))),
  );
}

export const transposed = (matrix: Rows): number[][] =>
  (matrix[0] ?? []).map((_, j) => matrix.map((row) => row[j] ?? 0));

/** Numbers that look random and are always the same (mulberry32), between -1 and 1. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * 2 - 1;
  };
}
