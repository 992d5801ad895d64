// The lectures' picture: two columns of words, and lines as thick as one looks at the other.
import { headColour } from "../colours";
import { type Item, type Scene, textWidth } from "../scene";
import { type Table, mean } from "../table";

const BODY = 15;
const GAP = 260;
const LEAST = 0.02; // of the attention; thinner lines are not seen
const MOST_LINES = 1500; // more are neither seen nor drawn quickly
const THICK = 9;

export interface Lines {
  scene: Scene;
  left: number;
  right: number;
  top: number;
  rowHeight: number;
  /** of the words, in pixels */
  size: number;
  /** the middle of a row's and of a column's word */
  rowAt: (row: number) => number;
  columnAt: (column: number) => number;
}

export interface Focus {
  row: number | null;
  column: number | null;
}

export function linesFigure(
  table: Table,
  title: string,
  meanings: readonly [string, string],
  focus: Focus,
): Lines {
  const n = Math.max(table.rows.length, table.columns.length);
  const rowHeight = n > 30 ? 19 : 27;
  const widest = (texts: readonly string[]): number =>
    Math.max(0, ...texts.map((text) => textWidth(text, BODY)));
  const left = Math.ceil(
    Math.max(widest(table.rows.map((row) => row.text)), textWidth(meanings[0], 11.5)) + 14,
  );
  const right = left + GAP;
  const top = 30;
  const at = (place: number, of: number): number => top + (place + 0.5 + (n - of) / 2) * rowHeight;
  const rowAt = (row: number): number => at(row, table.rows.length);
  const columnAt = (column: number): number => at(column, table.columns.length);
  const average = mean(table.weights);
  const strength = (i: number, j: number): number => average[i]?.[j] ?? 0;
  const isFree = focus.row === null && focus.column === null;
  const items: Item[] = [
    {
      kind: "text",
      x: left - 10,
      y: 10,
      text: meanings[0],
      size: 11.5,
      colour: "soft",
      anchor: "end",
    },
    { kind: "text", x: right + 10, y: 10, text: meanings[1], size: 11.5, colour: "soft" },
  ];
  table.rows.forEach((label, i) => {
    const weight = focus.column === null ? (i === focus.row ? 1 : 0) : strength(i, focus.column);
    if (focus.column !== null && weight >= LEAST) {
      const width = textWidth(label.text, BODY) + 10;
      items.push({
        kind: "rectangle",
        x: left - 5 - width,
        y: rowAt(i) - 11,
        width,
        height: 22,
        fill: "look",
        opacity: weight / 2,
        radius: 5,
      });
    }
    const isLoud = isFree || weight >= 0.1;
    const colour = !isLoud || label.is_special ? "soft" : label.is_unknown ? "mark" : "ink";
    items.push({
      kind: "text",
      x: left - 10,
      y: rowAt(i),
      text: label.text,
      size: BODY,
      colour,
      anchor: "end",
      isBold: i === focus.row,
      row: i,
    });
  });
  table.columns.forEach((label, j) => {
    const weight = focus.row === null ? (j === focus.column ? 1 : 0) : strength(focus.row, j);
    if (focus.row !== null && weight >= LEAST) {
      const width = textWidth(label.text, BODY) + 10;
      items.push({
        kind: "rectangle",
        x: right + 5,
        y: columnAt(j) - 11,
        width,
        height: 22,
        fill: "look",
        opacity: weight / 2,
        radius: 5,
      });
    }
    const isLoud = isFree || weight >= 0.1;
    const colour = !isLoud || label.is_special ? "soft" : label.is_unknown ? "mark" : "ink";
    items.push({
      kind: "text",
      x: right + 10,
      y: columnAt(j),
      text: label.text,
      size: BODY,
      colour,
      isBold: j === focus.column,
      column: j,
    });
  });
  items.push(...links(table, focus, left, right, rowAt, columnAt));
  const scene = {
    width: Math.ceil(right + 10 + Math.max(70, widest(table.columns.map((one) => one.text))) + 8),
    height: Math.ceil(top + n * rowHeight + 8),
    title,
    items,
  };
  return { scene, left, right, top, rowHeight, size: BODY, rowAt, columnAt };
}

function links(
  table: Table,
  focus: Focus,
  left: number,
  right: number,
  rowAt: (row: number) => number,
  columnAt: (column: number) => number,
): Item[] {
  const found: { weight: number; h: number; i: number; j: number }[] = [];
  table.weights.forEach((matrix, h) =>
    matrix.forEach((row, i) =>
      row.forEach((weight, j) => {
        const isWanted =
          (focus.row === null || focus.row === i) && (focus.column === null || focus.column === j);
        if (weight >= LEAST && isWanted) found.push({ weight, h, i, j });
      }),
    ),
  );
  // Faint lines first, so that strong ones lie on top; heads beside each other, not over.
  found.sort((a, b) => a.weight - b.weight);
  const nHeads = table.heads.length;
  return found.slice(-MOST_LINES).map(({ weight, h, i, j }) => {
    const aside = (h - (nHeads - 1) / 2) * Math.min(2.4, 14 / nHeads);
    const [y1, y2] = [rowAt(i) + aside, columnAt(j) + aside];
    return {
      kind: "path",
      points: [
        [left, y1],
        [left + 0.4 * GAP, y1],
        [right - 0.4 * GAP, y2],
        [right, y2],
      ],
      colour: nHeads === 1 ? "look" : headColour(table.heads[h] ?? 0),
      width: Math.max(0.6, (THICK * weight) / (nHeads === 1 ? 1 : nHeads ** 0.4)),
      opacity: Math.min(1, 0.18 + 0.8 * weight),
      isCurve: true,
    };
  });
}
