// A matrix of shades: rows look, columns are looked at.
import { type Ramp, shade } from "../colours";
import { type Item, type Mask, type Scene, isWide, shortened, textWidth } from "../scene";
import type { Matrix } from "../table";
import type { Scale } from "./scale";

export interface Named {
  text: string;
  is_special?: boolean;
  is_unknown?: boolean;
}

export interface Squares {
  scene: Scene;
  left: number;
  top: number;
  /** how wide a cell is, and how tall */
  cell: number;
  tall: number;
  nRows: number;
  nColumns: number;
  /** of the names, in pixels */
  size: number;
  scale: Scale;
  /** whether some cells may not be looked at */
  hasMasked: boolean;
  masked?: Mask | undefined;
  /** the same with other cells and names as before; not of what is too large to be drawn again */
  grown?: (cell: number) => Squares;
}

export interface MatrixWish {
  title: string;
  values: Matrix;
  rows: readonly Named[];
  columns: readonly Named[];
  /** what rows and columns are, above them */
  rowMeaning?: string;
  columnMeaning?: string;
  /** how large a cell is, whatever the room */
  cell?: number;
  span?: number;
  largest?: number;
  /** no cell is smaller: names that are to be read need room, and numbers may be left out */
  least?: number;
  /** room for the names of rows and columns */
  longest?: number;
  ramp?: Ramp;
  low?: number;
  high?: number;
  masked?: Mask | undefined;
  /** how a cell's number is written; nothing for none */
  number?: (value: number) => string;
  /** outline the largest of each row */
  marksLargest?: boolean;
}

const LABEL = 14;
const READABLE = 24; // cells this large hold their number
const LEAST = 20; // below, names of neighbours would touch
const MOST_GROWN = 10_000; // more cells are not drawn again while one zooms
const SLANT = 0.82; // the sine of 55 degrees

export const percent = (value: number): string =>
  value >= 0.05 ? String(Math.round(100 * value)) : "";

export function matrixFigure(wish: MatrixWish): Squares {
  const { values, rows, columns, masked, ramp = "weights", low = 0, high = 1 } = wish;
  const longest = Math.max(rows.length, columns.length, 1);
  const cell =
    wish.cell ??
    Math.max(wish.least ?? LEAST, Math.min(wish.largest ?? 38, (wish.span ?? 640) / longest));
  const size = Math.min(LABEL, Math.max(8, 0.85 * cell));
  const every = Math.max(1, Math.ceil((size + 1.5) / cell));
  const room = wish.longest ?? 130;
  const rowTexts = rows.map((row) => shortened(row.text, room, size));
  const columnTexts = columns.map((column) => shortened(column.text, room, size));
  const isTurned = (j: number): boolean => {
    const text = columnTexts[j] ?? "";
    return textWidth(text, size) > cell && !(Array.from(text).length <= 2 && isWide(text));
  };
  const turns = columns.some((column, j) => !column.is_special && isTurned(j));
  const tall = Math.max(
    0,
    ...columnTexts.map((text, j) => (isTurned(j) || turns ? textWidth(text, size) * SLANT : 0)),
  );
  const heading = wish.columnMeaning ? 22 : 0;
  const top = Math.ceil(heading + Math.max(size + 12, tall > 0 ? tall + size : 0));
  const left = Math.ceil(
    Math.max(
      ...rowTexts.map((text) => textWidth(text, size)),
      wish.rowMeaning ? textWidth(wish.rowMeaning, 11.5) : 0,
    ) + 16,
  );
  const [width, height] = [cell * columns.length, cell * rows.length];
  const box = { x: left, y: top, width, height };
  const items: Item[] = [{ kind: "heat", ...box, values, masked, low, high, ramp }];
  const soft = (name: Named): "soft" | "mark" | "ink" =>
    name.is_special ? "soft" : name.is_unknown ? "mark" : "ink";
  rows.forEach((row, i) => {
    if (i % every) return;
    const y = top + (i + 0.5) * cell;
    items.push({
      kind: "text",
      x: left - 9,
      y,
      text: rowTexts[i] ?? "",
      size,
      colour: soft(row),
      anchor: "end",
      row: i,
    });
  });
  let overhang = 0;
  columns.forEach((column, j) => {
    if (j % every) return;
    const x = left + (j + 0.5) * cell;
    const text = columnTexts[j] ?? "";
    const lies = isTurned(j) || (turns && !isWide(text));
    items.push(
      lies
        ? {
            kind: "text",
            x: x + 3,
            y: top - 9,
            text,
            size,
            colour: soft(column),
            turned: -55,
            column: j,
          }
        : {
            kind: "text",
            x,
            y: top - size,
            text,
            size,
            colour: soft(column),
            anchor: "middle",
            column: j,
          },
    );
    if (lies) overhang = Math.max(overhang, x + 3 + 0.58 * textWidth(text, size) - left - width);
  });
  if (wish.number && cell >= READABLE && rows.length * columns.length <= 1200) {
    items.push(...numbers(wish.number, values, left, top, cell, low, high, ramp));
  }
  items.push(...lines(rows.length, columns.length, left, top, cell));
  if (wish.marksLargest) items.push(...largest(values, left, top, cell));
  if (wish.rowMeaning) {
    items.push({
      kind: "text",
      x: left - 9,
      y: top - size,
      text: wish.rowMeaning,
      size: 11.5,
      colour: "soft",
      anchor: "end",
    });
  }
  if (wish.columnMeaning) {
    items.push({
      kind: "text",
      x: left + 3, // the names of rows are pinned up to here
      y: 8,
      text: wish.columnMeaning,
      size: 11.5,
      colour: "soft",
    });
  }
  const scene = {
    width: Math.ceil(left + width + Math.max(overhang, 2) + 2),
    height: Math.ceil(top + height + 2),
    title: wish.title,
    items,
  };
  return {
    ...{ scene, left, top, cell, tall: cell, size, masked },
    nRows: rows.length,
    nColumns: columns.length,
    scale: { ramp, low, high },
    ...(rows.length * columns.length <= MOST_GROWN
      ? { grown: (cell: number) => matrixFigure({ ...wish, cell }) }
      : {}),
    hasMasked: masked?.some((row) => row.includes(true)) ?? false,
  };
}

function numbers(
  said: (value: number) => string,
  values: Matrix,
  left: number,
  top: number,
  cell: number,
  low: number,
  high: number,
  ramp: Ramp,
): Item[] {
  return values.flatMap((row, i) =>
    row.flatMap((value, j): Item[] => {
      const text = said(value);
      if (text === "") return [];
      return [
        {
          kind: "text",
          x: left + (j + 0.5) * cell,
          y: top + (i + 0.5) * cell,
          text,
          size: Math.min(13, (text.length > 3 ? 0.3 : text.length > 2 ? 0.36 : 0.42) * cell),
          colour: "ink",
          row: i,
          column: j,
          over: { ramp, shade: shade(value, low, high) },
          anchor: "middle",
        },
      ];
    }),
  );
}

function lines(nRows: number, nColumns: number, left: number, top: number, cell: number): Item[] {
  if (cell < 6) return [];
  const [right, bottom] = [left + nColumns * cell, top + nRows * cell];
  const width = cell >= 16 ? 1.5 : 0.5;
  const line = (...points: (readonly [number, number])[]): Item => ({
    kind: "path",
    points,
    colour: "ground",
    width,
  });
  const across = Array.from({ length: Math.max(0, nRows - 1) }, (_, i) =>
    line([left, top + (i + 1) * cell], [right, top + (i + 1) * cell]),
  );
  const down = Array.from({ length: Math.max(0, nColumns - 1) }, (_, j) =>
    line([left + (j + 1) * cell, top], [left + (j + 1) * cell, bottom]),
  );
  return [...across, ...down];
}

function largest(values: Matrix, left: number, top: number, cell: number): Item[] {
  return values.map((row, i) => {
    const j = row.indexOf(Math.max(...row));
    return {
      kind: "rectangle",
      x: left + j * cell + 1,
      y: top + i * cell + 1,
      width: cell - 2,
      height: cell - 2,
      stroke: "mark",
      strokeWidth: 1.8,
      radius: 2,
    };
  });
}
