import { type Rows, type Vector, total, transposed } from "./vectors";

const EPSILON = 1e-5;

export interface Spread {
  mean: number;
  deviation: number;
}

/** The mean, and the deviation that divides by n. */
export function spread(values: Vector): Spread {
  const mean = total(values) / values.length;
  const variance = total(values.map((value) => (value - mean) ** 2)) / values.length;
  return { mean, deviation: Math.sqrt(variance) };
}

/** (x - μ) / √(σ² + ε) */
export function normalise(values: Vector): number[] {
  const { mean, deviation } = spread(values);
  return values.map((value) => (value - mean) / Math.sqrt(deviation ** 2 + EPSILON));
}

/** Each feature (row) across the examples of the batch (columns). */
export const batchNorm = (table: Rows): number[][] => table.map(normalise);

/** The features of each example (column) by themselves. */
export const layerNorm = (table: Rows): number[][] => transposed(transposed(table).map(normalise));
