// By how much one side looks more than the other, where both have the words.
import { paired } from "../pairing";
import type { Mask } from "../scene";
import { type Label, type Matrix, type Table, isMasked, mean } from "../table";
import { type MatrixWish, type Squares, matrixFigure } from "./matrix";

export interface Difference {
  rows: readonly Label[];
  columns: readonly Label[];
  /** right minus left */
  values: Matrix;
  /** for each row and column, its index on the left and on the right */
  rowPairs: readonly (readonly [number, number])[];
  columnPairs: readonly (readonly [number, number])[];
  /** cells that neither side may look at */
  masked?: Mask | undefined;
  /** words of either side without a partner on the other */
  nLeftOut: number;
}

function pairsOf(
  left: readonly Label[],
  right: readonly Label[],
): readonly (readonly [number, number])[] {
  const texts = (labels: readonly Label[]): string[] => labels.map((label) => label.text);
  return paired(texts(left), texts(right)).flatMap((place, i) =>
    place === null ? [] : [[i, place] as const],
  );
}

function named(left: Label | undefined, right: Label | undefined): Label {
  const [one, other] = [left?.text ?? "", right?.text ?? ""];
  const text = one === other ? one : `${one} / ${other}`;
  return { text, places: left?.places ?? [], is_special: left?.is_special ?? false };
}

/** The right side's weights minus the left's; null where they have no row or no column in common. */
export function differenceOf(left: Table, right: Table): Difference | null {
  const rowPairs = pairsOf(left.rows, right.rows);
  const columnPairs = pairsOf(left.columns, right.columns);
  if (rowPairs.length === 0 || columnPairs.length === 0) return null;
  const [one, other] = [mean(left.weights), mean(right.weights)];
  const counts = [left.rows, right.rows].map((all) => all.length - rowPairs.length);
  const more = [left.columns, right.columns].map((all) => all.length - columnPairs.length);
  return {
    rows: rowPairs.map(([i, j]) => named(left.rows[i], right.rows[j])),
    columns: columnPairs.map(([i, j]) => named(left.columns[i], right.columns[j])),
    values: rowPairs.map(([i, k]) =>
      columnPairs.map(([j, l]) => (other[k]?.[l] ?? 0) - (one[i]?.[j] ?? 0)),
    ),
    rowPairs,
    columnPairs,
    masked: rowPairs.map(([i]) =>
      columnPairs.map(([j]) => {
        const [row, column] = [left.rows[i], left.columns[j]];
        return row !== undefined && column !== undefined && isMasked(left.kind, row, column);
      }),
    ),
    nLeftOut: [...counts, ...more].reduce((sum, count) => sum + count, 0),
  };
}

/** The end of the scale to both sides of zero: the largest difference, unless all are next to none. */
export function scaleOf(...all: readonly Matrix[]): number {
  const furthest = all.flat().map((row) => Math.max(0, ...row.map(Math.abs)));
  return Math.max(0.01, ...furthest);
}

/** In percentage points, with its sign; small ones are left empty. */
export const signedPercent = (value: number): string =>
  Math.abs(value) < 0.01 ? "" : `${value < 0 ? "−" : "+"}${Math.round(100 * Math.abs(value))}`;

export function differenceFigure(
  difference: Difference,
  wish: Pick<MatrixWish, "title"> & Partial<MatrixWish>,
): Squares {
  const scale = scaleOf(difference.values);
  return matrixFigure({
    values: difference.values,
    rows: difference.rows,
    columns: difference.columns,
    ramp: "signed",
    masked: difference.masked,
    low: -scale,
    high: scale,
    number: signedPercent,
    largest: 34,
    longest: 120,
    ...wish,
  });
}
