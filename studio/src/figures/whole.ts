// Pictures of a whole trace: its steps, encoder and decoder at once, and the picture under each word.
import type { Colour } from "../colours";
import { type Item, type Scene, shortened, textWidth } from "../scene";
import { type Label, type Matrix, type Table, mean } from "../table";
import type { Kind, Trace } from "../trace";

const [SIZE, SMALL] = [14, 12];

export interface Step {
  text: string;
  isSpecial: boolean;
  share: number;
  /** what could have stood there, and whether it did */
  others: readonly { text: string; share: number; isChosen: boolean }[];
  looked: readonly { text: string; share: number }[];
}

const percent = (share: number): string =>
  share >= 0.0095 ? `${Math.round(100 * share)} %` : "< 1 %";

const [CARD, APART, INSIDE, LINE] = [158, 14, 12, 19];

function bar(x: number, y: number, text: string, share: number, colour: Colour): Item[] {
  const inner = CARD - 2 * INSIDE;
  const width = Math.max(0.5, share * (inner - 40)) + 3;
  return [
    {
      kind: "rectangle",
      ...{ x: x + INSIDE - 3, y: y - 8, width, height: 16, fill: colour, opacity: 0.32, radius: 3 },
    },
    {
      kind: "text",
      ...{ x: x + INSIDE, y, text: shortened(text, inner - 40, 12.5), size: 12.5, colour: "ink" },
    },
    {
      kind: "text",
      ...{ x: x + CARD - INSIDE, y, text: percent(share), size: 11, colour: "soft", anchor: "end" },
    },
  ];
}

const heading = (isThere: boolean, x: number, y: number, text: string): Item[] =>
  isThere ? [{ kind: "text", x: x + INSIDE, y, text, size: 11, colour: "soft" }] : [];

/** A card a step, in the order of writing. */
export function stepsFigure(
  steps: readonly Step[],
  title: string,
  words: { looked: string; step: (n: number) => string },
  inRow = 4,
): Scene {
  const nOthers = Math.max(0, ...steps.map((one) => one.others.length));
  const nLooked = Math.max(0, ...steps.map((one) => one.looked.length));
  const height = 62 + nOthers * LINE + (nLooked > 0 ? 26 + nLooked * LINE : 0) + 6;
  const items = steps.flatMap((step, t): Item[] => {
    const x = (t % inRow) * (CARD + APART) + 1;
    const y = Math.floor(t / inRow) * (height + APART) + 1;
    const under = y + 62 + step.others.length * LINE + 8;
    return [
      {
        kind: "rectangle",
        ...{ x, y, width: CARD, height, fill: "panel", stroke: "line", radius: 8 },
      },
      {
        kind: "text",
        ...{ x: x + INSIDE, y: y + 16, text: words.step(t), size: 11, colour: "soft" },
      },
      {
        kind: "text",
        ...{ x: x + CARD - INSIDE, y: y + 16, size: 11, colour: "soft", anchor: "end" },
        text: `p = ${percent(step.share)}`,
      },
      {
        kind: "text",
        ...{ x: x + INSIDE, y: y + 38, size: 17, isBold: !step.isSpecial, row: t },
        text: shortened(step.text, CARD - 2 * INSIDE, 17),
        colour: step.isSpecial ? "soft" : "ink",
      },
      ...step.others.flatMap((one, i) =>
        bar(x, y + 62 + i * LINE, one.text, one.share, one.isChosen ? "look" : "faint"),
      ),
      ...heading(step.looked.length > 0, x, under, words.looked),
      ...step.looked.flatMap((one, i) =>
        bar(x, under + (i + 1) * LINE, one.text, one.share, "mark"),
      ),
    ];
  });
  const nRows = Math.ceil(steps.length / inRow);
  return {
    width: Math.min(inRow, steps.length) * (CARD + APART) - APART + 2,
    height: Math.max(1, nRows * (height + APART) - APART + 2),
    title,
    items,
  };
}

const SIDES: Record<Kind, Colour> = { encoder: "head2", cross: "head0", decoder: "head1" };
const [ROW, ACROSS, ARC] = [28, 230, 120];
const LEAST = 0.06; // of the attention; thinner lines are not seen
const MOST = 1500;

/** The cells worth a line, the faintest first. */
function strongest(weights: Matrix): readonly (readonly [number, number, number])[] {
  const found = weights.flatMap((row, i) =>
    row.flatMap((weight, j) => (weight >= LEAST ? [[i, j, weight] as const] : [])),
  );
  return found.sort((a, b) => a[2] - b[2]).slice(-MOST);
}

/** Where each label stands in the column that is shown; the words are the same, in order. */
function placesOf(labels: readonly Label[], shown: readonly Label[]): (number | null)[] {
  const words = shown.flatMap((label, i) => (label.is_special ? [] : [i]));
  const end = shown.findIndex((label) => label.is_special);
  let n = 0;
  return labels.map((label) =>
    label.is_special ? (n > 0 && end >= 0 ? end : null) : (words[n++] ?? null),
  );
}

/** Source on the left, target on the right: each looks at itself in arcs, and across in lines. */
export function overviewFigure(
  tables: Partial<Record<Kind, Table>> & { cross: Table },
  title: string,
  names: Record<Kind, string>,
): Scene {
  const { cross, encoder, decoder } = tables;
  const [source, target] = [cross.columns, cross.rows];
  const widest = (labels: readonly Label[]): number =>
    Math.max(60, ...labels.map((label) => textWidth(label.text, SIZE + 1)));
  const left = (encoder ? ARC : 0) + widest(source) + 12;
  const right = left + ACROSS;
  const n = Math.max(source.length, target.length);
  const at = (i: number, of: number): number => 34 + (i + 0.5 + (n - of) / 2) * ROW;
  const path = (
    kind: Kind,
    points: readonly (readonly [number, number])[],
    weight: number,
  ): Item => ({
    kind: "path",
    points,
    colour: SIDES[kind],
    width: Math.max(0.6, 7 * weight),
    opacity: Math.min(1, 0.2 + 0.75 * weight),
    isCurve: true,
  });
  const arcs = (one: Table, shown: readonly Label[], x: number, sign: number): Item[] => {
    const widths = shown.map((label) => textWidth(label.text, SIZE + 1) + 4);
    const [rows, columns] = [placesOf(one.rows, shown), placesOf(one.columns, shown)];
    return strongest(mean(one.weights)).flatMap(([i, j, weight]) => {
      const [a, b] = [rows[i] ?? null, columns[j] ?? null];
      if (a === null || b === null || a === b) return [];
      const [from, to] = [widths[a] ?? 0, widths[b] ?? 0];
      const bow = x + sign * (Math.max(from, to) + Math.min(ARC, 14 + 11 * Math.abs(a - b)));
      const [y, end] = [at(a, shown.length), at(b, shown.length)];
      const points = [
        [x + sign * from, y],
        [bow, y],
        [bow, end],
        [x + sign * to, end],
      ] as const;
      return [path(one.kind, points, weight)];
    });
  };
  const text = (x: number, y: number, label: Label, anchor: "start" | "end"): Item => ({
    kind: "text",
    ...{ x, y, text: label.text, size: SIZE + 1, anchor },
    colour: label.is_special ? "soft" : "ink",
  });
  const keys: readonly (readonly [Kind, number])[] = [
    ["encoder", left - widest(source) / 2],
    ["cross", left + ACROSS / 2],
    ["decoder", right + widest(target) / 2],
  ];
  const items: Item[] = [
    ...keys.flatMap(([kind, x]): Item[] =>
      tables[kind]
        ? [
            {
              kind: "text",
              ...{ x, y: 12, text: names[kind], size: SMALL, anchor: "middle", isBold: true },
              colour: SIDES[kind],
            },
          ]
        : [],
    ),
    ...(encoder ? arcs(encoder, source, left - 12, -1) : []),
    ...strongest(mean(cross.weights)).map(([i, j, weight]) => {
      const [y, end] = [at(j, source.length), at(i, target.length)];
      const pull = 0.4 * ACROSS;
      const points = [
        [left, y],
        [left + pull, y],
        [right - pull, end],
        [right, end],
      ] as const;
      return path("cross", points, weight);
    }),
    ...(decoder ? arcs(decoder, target, right + 12, 1) : []),
    ...source.map((label, i) => text(left - 8, at(i, source.length), label, "end")),
    ...target.map((label, i) => text(right + 8, at(i, target.length), label, "start")),
  ];
  const width = Math.ceil(right + 8 + widest(target) + (decoder ? ARC : 8));
  return { width, height: 34 + n * ROW + 8, title, items };
}

const SIDE = 140;

/** The picture, then once more under each word, bright where the model looked. */
export function picturesFigure(trace: Trace, table: Table, title: string, first: string): Scene {
  const picture = trace.picture;
  if (!picture) return { width: 1, height: 1, title, items: [] };
  const [rows, columns] = picture.grid;
  const last = picture.boxes.at(-1) ?? [0, 0, 1, 1];
  const scale = SIDE / Math.max(last[2], last[3]);
  const [width, height] = [Math.max(24, scale * last[2]), Math.max(24, scale * last[3])];
  const across = Math.max(width, SIDE / 2);
  const weights = mean(table.weights);
  const inRow = 4;
  const source = `data:image/png;base64,${picture.png}`;
  const items = [null, ...table.rows].flatMap((label, k): Item[] => {
    const x = (k % inRow) * (across + APART) + (across - width) / 2;
    const y = Math.floor(k / inRow) * (24 + height + APART);
    const row = weights[k - 1] ?? [];
    const most = Math.max(...row, 1e-9);
    const light = Array.from({ length: rows }, (_, i) =>
      row.slice(i * columns, (i + 1) * columns).map((weight) => weight / most),
    );
    return [
      {
        kind: "text",
        ...{ x: x + width / 2, y: y + 10, size: SIZE, anchor: "middle", isBold: k > 0 },
        text: shortened(label?.text ?? first, across, SIZE),
        colour: label === null || label.is_special ? "soft" : "ink",
        ...(k > 0 ? { row: k - 1 } : {}),
      },
      {
        kind: "image",
        ...{ x, y: y + 24, width, height, source },
        ...(label === null ? {} : { light }),
      },
    ];
  });
  const nRows = Math.ceil((table.rows.length + 1) / inRow);
  return {
    width: Math.ceil(inRow * (across + APART) - APART),
    height: Math.ceil(nRows * (24 + height + APART)),
    title,
    items,
  };
}
