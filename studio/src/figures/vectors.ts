// Vectors as rows of numbers, wrapped where they are too long for the page.
import { shade } from "../colours";
import { type Item, type Scene, textWidth } from "../scene";

export interface Row {
  name: string;
  values: readonly number[];
  isMarked?: boolean;
}

/** A number in few characters. */
export function short(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1000) return String(value);
  const text = value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
  return (Number(text) === 0 ? "0.00" : text).replace("-", "−");
}

export interface VectorsWish {
  title: string;
  rows: readonly Row[];
  inLine: number;
  cell?: number;
  /** one scale for all rows, not one for each */
  isShared?: boolean;
}

/** Rows below each other, their numbers in columns; after `inLine` numbers they go on below. */
export function vectorsFigure({
  title,
  rows,
  inLine,
  cell = 44,
  isShared = false,
}: VectorsWish): Scene {
  const size = Math.min(13, 0.3 * cell);
  const height = 26;
  const length = Math.max(1, ...rows.map((row) => row.values.length));
  const left = Math.ceil(Math.max(...rows.map((row) => textWidth(row.name, 14))) + 18);
  const furthest = (values: readonly number[]): number => Math.max(1e-9, ...values.map(Math.abs));
  const common = furthest(rows.flatMap((row) => row.values));
  const items: Item[] = [];
  let y = 0;
  for (let from = 0; from < length; from += inLine) {
    for (const row of rows) {
      const part = row.values.slice(from, from + inLine);
      const most = isShared ? common : furthest(row.values);
      if (from === 0) {
        items.push({
          kind: "text",
          x: left - 10,
          y: y + height / 2,
          text: row.name,
          size: 14,
          colour: row.isMarked ? "mark" : "ink",
          anchor: "end",
          isBold: row.isMarked ?? false,
        });
      }
      // Half the ramp is enough: numbers stay readable on it.
      items.push({
        kind: "heat",
        x: left,
        y,
        width: part.length * cell,
        height: height - 2,
        values: [part],
        low: -1.6 * most,
        high: 1.6 * most,
        ramp: "signed",
      });
      part.forEach((value, i) => {
        items.push({
          kind: "text",
          x: left + (i + 0.5) * cell,
          y: y + height / 2 - 1,
          text: short(value),
          size,
          colour: "ink",
          anchor: "middle",
          over: { ramp: "signed", shade: shade(value, -1.6 * most, 1.6 * most) },
        });
      });
      y += height;
    }
    if (from + inLine < length) y += 12;
  }
  return {
    width: Math.ceil(left + Math.min(length, inLine) * cell + 2),
    height: Math.max(1, y),
    title,
    items,
  };
}
