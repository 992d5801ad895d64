// Curves over updates or minutes: several runs over each other, a colour each.
import type { Colour } from "../colours";
import { type Item, type Scene, shortened } from "../scene";

export type Point = readonly [number, number];

export interface Curve {
  colour: Colour;
  points: readonly Point[];
  /** as it was measured, behind a smoothed one */
  isFaint?: boolean;
  /** measured now and then: each time is marked */
  hasMarks?: boolean;
}

export interface Panel {
  scene: Scene;
  left: number;
  right: number;
  top: number;
  bottom: number;
  low: number;
  high: number;
}

const [WIDTH, HEIGHT] = [540, 250];
const [LEFT, RIGHT, TOP, BOTTOM] = [58, 20, 30, 44];
const SIZE = 12;
const LEGEND = 20; // the height of a line of it

/** 1, 2 or 5 times a power of ten: about so many of them in a span. */
export function stepOf(span: number, about: number): number {
  const rough = span / Math.max(1, about);
  const power = 10 ** Math.floor(Math.log10(rough || 1));
  const part = rough / power;
  return power * (part > 5 ? 10 : part > 2 ? 5 : part > 1 ? 2 : 1);
}

/** A number as one reads it beside an axis. */
export function written(value: number): string {
  const size = Math.abs(value);
  if (size >= 10_000) return `${Number((value / 1000).toPrecision(3))}k`;
  if (size > 0 && size < 0.001) return value.toExponential(size < 1e-5 ? 0 : 1).replace("e-", "e−");
  return String(Number(value.toPrecision(4))).replace("-", "−");
}

/** The numbers beside an axis, all written alike: as many digits as their step needs. */
export function ticks(
  from: number,
  to: number,
  step: number,
): readonly (readonly [number, string])[] {
  const most = Math.max(Math.abs(from), Math.abs(to));
  const power = Math.floor(Math.log10(most || 1) + 1e-9);
  const unit = most >= 10_000 ? 1000 : power < -4 ? 10 ** power : 1;
  const ending = unit === 1000 ? "k" : unit === 1 ? "" : `e−${-power}`;
  const digits = Math.max(0, -Math.floor(Math.log10(step / unit) + 1e-9));
  const first = Math.ceil(from / step - 1e-6);
  const last = Math.floor(to / step + 1e-6);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => {
    const value = (first + i) * step;
    const text = (value / unit).toFixed(digits).replace("-", "−");
    return [value, Number(value) === 0 ? "0" : text + ending] as const;
  });
}

/** Each value drawn towards those before it; 0 leaves them as they are. */
export function smoothed(points: readonly Point[], share: number): Point[] {
  let [sum, weight] = [0, 0];
  return points.map(([x, y]) => {
    sum = share * sum + y;
    weight = share * weight + 1;
    return [x, sum / weight] as const;
  });
}

export interface PanelWish {
  title: string;
  across: string;
  curves: readonly Curve[];
  /** of all panels together, so that they lie below each other */
  range: readonly [number, number];
  fromZero?: boolean;
}

export function panelFigure({ title, across, curves, range, fromZero }: PanelWish): Panel {
  const [right, bottom] = [WIDTH - RIGHT, HEIGHT - BOTTOM];
  const values = curves
    .filter((one) => !one.isFaint)
    .flatMap((one) => one.points.map(([, y]) => y));
  const most = values.length > 0 ? Math.max(...values) : 1;
  const least = fromZero ? 0 : values.length > 0 ? Math.min(...values) : 0;
  const step = stepOf(most - least || Math.abs(most) || 1, 4);
  const from = Math.floor(least / step) * step;
  const to = Math.max(from + step, Math.ceil(most / step) * step);
  const [low, high] = [range[0], Math.max(range[1], range[0] + 1e-9)];
  const x = (value: number): number => LEFT + ((value - low) / (high - low)) * (right - LEFT);
  const y = (value: number): number =>
    bottom - ((Math.min(to, Math.max(from, value)) - from) / (to - from)) * (bottom - TOP);
  const items: Item[] = [
    { kind: "text", x: LEFT, y: 9, text: title, size: 13.5, colour: "ink", isBold: true },
    {
      kind: "text",
      x: right,
      y: HEIGHT - 8,
      text: across,
      size: 11.5,
      colour: "soft",
      anchor: "end",
    },
  ];
  for (const [tick, text] of ticks(from, to, step)) {
    items.push(line(LEFT, y(tick), right, y(tick)), {
      kind: "text",
      x: LEFT - 8,
      y: y(tick),
      text,
      size: SIZE,
      colour: "soft",
      anchor: "end",
    });
  }
  for (const [tick, text] of ticks(low, high, stepOf(high - low, 6))) {
    items.push(line(x(tick), bottom, x(tick), bottom + 4), {
      kind: "text",
      x: x(tick),
      y: bottom + 15,
      text,
      size: SIZE,
      colour: "soft",
      anchor: "middle",
    });
  }
  for (const { colour, points, isFaint, hasMarks } of curves) {
    const places = points.map(([a, b]) => [x(a), y(b)] as const);
    if (places.length > 1)
      items.push({
        kind: "path",
        points: places,
        colour,
        width: isFaint ? 1 : 2,
        opacity: isFaint ? 0.28 : hasMarks ? 0.6 : 1,
      });
    if (hasMarks || places.length === 1)
      for (const [a, b] of places)
        items.push({
          kind: "rectangle",
          x: a - 4,
          y: b - 4,
          width: 8,
          height: 8,
          radius: 4,
          fill: colour,
          stroke: "ground",
          strokeWidth: 1.5,
        });
  }
  return {
    scene: { width: WIDTH, height: HEIGHT, title, items },
    left: LEFT,
    right,
    top: TOP,
    bottom,
    low,
    high,
  };
}

const line = (x1: number, y1: number, x2: number, y2: number): Item => ({
  kind: "path",
  points: [
    [x1, y1],
    [x2, y2],
  ],
  colour: "line",
  width: 1,
});

/** Which run has which colour, for a picture that leaves the page: there a line has no name. */
export function legendFigure(runs: readonly { text: string; colour: Colour }[]): Scene {
  const items = runs.flatMap(({ text, colour }, i): Item[] => {
    const y = (i + 0.5) * LEGEND;
    const sample = [
      [LEFT, y],
      [LEFT + 24, y],
    ] as const;
    const x = LEFT + 34;
    const name = shortened(text, WIDTH - RIGHT - x, SIZE);
    return [
      { kind: "path", points: sample, colour, width: 3 },
      { kind: "text", x, y, text: name, size: SIZE, colour: "ink" },
    ];
  });
  return { width: WIDTH, height: runs.length * LEGEND, title: "", items };
}
