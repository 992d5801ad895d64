// One weight as it came about, picked from what the library recorded: two vectors, products, sum,
// scale, softmax over the row, sum.
import type { CellAnswer, RecordedLecture, RecordedVectors } from "./contract";
import lecture from "./lecture.json";
import type { Matrix } from "./table";

/** What is shown of a cell, wherever it comes from; a row's token is the one just read. */
export type Arithmetic = Omit<CellAnswer, "model" | "site" | "layer" | "head" | "row">;

/** How a cell and its neighbours are called. */
export interface Names {
  row: string;
  columns: readonly string[];
}

const NOBODY: readonly number[] = [];

/** The numbers of a cell; only the products, which are shown as such, are worked out here. */
export function cellOf(
  vectors: RecordedVectors,
  weights: readonly Matrix[],
  [head, row, column]: readonly [number, number, number],
  names: Names,
): Arithmetic {
  const query = vectors.queries[head]?.[row] ?? NOBODY;
  const key = vectors.keys[head]?.[column] ?? NOBODY;
  const scores = vectors.scores[head]?.[row] ?? NOBODY;
  return {
    column,
    row_token: names.row,
    column_token: names.columns[column] ?? "",
    column_tokens: names.columns,
    formula: "",
    query,
    key,
    products: query.map((value, i) => value * (key[i] ?? 0)),
    sum: vectors.sums[head]?.[row]?.[column] ?? 0,
    divisor: vectors.divisor,
    score: scores[column] ?? 0,
    scores,
    may_see: vectors.may_see[row] ?? [],
    weights: weights[head]?.[row] ?? NOBODY,
    values: vectors.values[head] ?? [],
    context: vectors.contexts[head]?.[row] ?? NOBODY,
  };
}

/** The lectures' worked example: Thinking and Machines look at each other; 112 and 96 come out. */
export const LECTURE = lecture as RecordedLecture;

export const lectureCell = (row: number, column: number): Arithmetic =>
  cellOf(LECTURE.vectors, LECTURE.weights, [0, row, column], {
    row: LECTURE.words[row] ?? "",
    columns: LECTURE.words,
  });
