// One weight as it came about: two vectors, products, sum, scale, softmax over the row, sum.
import { type Rows, type Vector, dot, products, softmax, total, weightedSum } from "./vectors";

export interface Arithmetic {
  /** whose query it is: of a decoder, the word just read */
  rowLabel: string;
  columnLabel: string;
  column: number;
  labels: readonly string[];
  query: Vector;
  key: Vector;
  products: Vector | null;
  sum: number | null;
  divisor: number | null;
  score: number;
  scores: Vector;
  maySee: readonly boolean[];
  weights: Vector;
  values: Rows;
  context: Vector;
  formula: string;
}

export interface Given {
  query: Vector;
  keys: Rows;
  values: Rows;
  maySee: readonly boolean[];
  column: number;
  rowLabel: string;
  labels: readonly string[];
}

/** Everything from a query, the keys and the values: scaled dot product. */
export function computed(given: Given): Arithmetic {
  const { query, keys, values, maySee, column, rowLabel, labels } = given;
  const divisor = Math.sqrt(query.length);
  const key = keys[column] ?? [];
  const each = products(query, key);
  const scores = keys.map((one) => dot(query, one) / divisor);
  const weights = softmax(scores, maySee);
  return {
    rowLabel,
    columnLabel: labels[column] ?? "",
    column,
    labels,
    query,
    key,
    products: each,
    sum: total(each),
    divisor,
    score: scores[column] ?? 0,
    scores,
    maySee,
    weights,
    values,
    context: weightedSum(weights, values),
    formula: "qᵀk / √d",
  };
}
