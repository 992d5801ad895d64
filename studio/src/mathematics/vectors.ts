// Vectors and matrices as plain arrays; small enough that nothing faster is needed.

export type Vector = readonly number[];
export type Rows = readonly Vector[];

export const total = (values: Vector): number => values.reduce((sum, value) => sum + value, 0);

export const products = (a: Vector, b: Vector): number[] =>
  a.map((value, i) => value * (b[i] ?? 0));

export const dot = (a: Vector, b: Vector): number => total(products(a, b));

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
