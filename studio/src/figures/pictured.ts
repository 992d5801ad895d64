// Where one picture was looked at: a path of glimpses over it, or what one of its places saw.
import { type Item, type Scene, shortened, textWidth } from "../scene";
import type { Trace } from "../trace";
import type { Say } from "../words";

const [LARGE, SIDE, GAP, SMALL, SIZE] = [300, 44, 6, 12, 14];
const [TOP, ACROSS, BAR] = [26, 28, 90];

/** What the steps of a trace are about: words, places of a picture that was drawn, or glimpses. */
export function unitOf({ picture, steps }: Trace): "word" | "place" | "glimpse" {
  if (picture?.gazes?.length) return "glimpse";
  return picture && steps.every((step) => step.alternatives.length === 0) ? "place" : "word";
}

/** What a picture is called, in the language of the page where it has no name of its own. */
export function namePicture(say: Say, text: string): string {
  if (text === "a picture") return say("aPicture");
  const [, seed, label] = /^the picture of seed (\d+)(?: of class (.+))?$/.exec(text) ?? [];
  if (seed === undefined) return text;
  return label === undefined
    ? say("drawnPicture", { seed })
    : say("drawnPictureOf", { seed, label });
}

interface Sized {
  source: string;
  /** of the picture, in its own pixels */
  pixels: readonly [number, number];
  scale: number;
}

function sized({ picture }: Trace): Sized {
  const last = picture?.boxes.at(-1) ?? [0, 0, 1, 1];
  return {
    source: `data:image/png;base64,${picture?.png ?? ""}`,
    pixels: [last[2], last[3]],
    scale: LARGE / Math.max(last[2], last[3]),
  };
}

const percent = (share: number): string =>
  share >= 0.0095 ? `${Math.round(100 * share)} %` : "< 1 %";

/** The path up to a glimpse, what it saw at each scale, and what was believed after each. */
export function gazesFigure(
  trace: Trace,
  at: number,
  title: string,
  words: { seen: string; believed: string },
  isNarrow = false,
): Scene {
  const gazes = trace.picture?.gazes ?? [];
  const { source, pixels, scale } = sized(trace);
  const [width, height] = [pixels[0] * scale, pixels[1] * scale];
  const shown = gazes.slice(0, at + 1);
  const points = shown.map(([x = 0, y = 0]) => [x * scale, TOP + y * scale] as const);
  const [x = 0, y = 0, ...sides] = gazes[at] ?? [];
  const left = isNarrow ? 0 : width + ACROSS;
  const down = isNarrow ? TOP + height : 0;
  const nScales = Math.max(0, ...gazes.map((one) => one.length - 2));
  const bars = left + 22 + nScales * (SIDE + GAP) + 12;
  const named = trace.steps.map((step) => step.alternatives[0]?.text ?? "");
  const room = Math.min(120, Math.max(20, ...named.map((name) => textWidth(name, SIZE))));
  const line = (n: number): number => down + TOP + (n + 0.5) * (SIDE + GAP + 2);
  const clipped = (side: number): Item => {
    const [x0, y0] = [Math.max(0, x - side / 2), Math.max(0, y - side / 2)];
    const [x1, y1] = [Math.min(pixels[0], x + side / 2), Math.min(pixels[1], y + side / 2)];
    return {
      kind: "rectangle",
      ...{ x: x0 * scale, y: TOP + y0 * scale, stroke: "mark", strokeWidth: 1.5 },
      ...{ width: (x1 - x0) * scale, height: (y1 - y0) * scale },
    };
  };
  const items: Item[] = [
    { kind: "image", x: 0, y: TOP, width, height, source, isSharp: true },
    { kind: "rectangle", x: 0, y: TOP, width, height, stroke: "line" },
    ...sides.map(clipped),
    { kind: "path", points, colour: "mark", width: 2 },
    ...points.flatMap(([a, b], n): Item[] => [
      {
        kind: "rectangle",
        ...{ x: a - 9, y: b - 9, width: 18, height: 18, radius: 9, fill: "mark" },
      },
      {
        kind: "text",
        ...{ x: a, y: b, text: String(n + 1), size: SMALL, colour: "ground" },
        ...{ anchor: "middle", isBold: true },
      },
    ]),
    { kind: "text", x: left, y: down + 12, text: words.seen, size: SMALL, colour: "soft" },
    { kind: "text", x: bars, y: down + 12, text: words.believed, size: SMALL, colour: "soft" },
    ...shown.flatMap(([a = 0, b = 0, ...widths], n): Item[] => {
      const [best, y] = [trace.steps[n]?.alternatives[0], line(n)];
      const share = Math.exp(best?.log_probability ?? -Infinity);
      const isNow = n === at;
      return [
        {
          kind: "text",
          ...{ x: left, y, text: String(n + 1), size: SIZE, colour: "mark", isBold: isNow },
        },
        ...widths.flatMap((side, k): Item[] => {
          const place = { x: left + 22 + k * (SIDE + GAP), y: y - SIDE / 2 };
          const part = { x: a - side / 2, y: b - side / 2, side, pixels };
          const box = { ...place, width: SIDE, height: SIDE };
          return [
            { kind: "image", ...box, source, part, isSharp: true },
            { kind: "rectangle", ...box, stroke: isNow ? "mark" : "line" },
          ];
        }),
        {
          kind: "text",
          ...{ x: bars, y, size: SIZE, colour: "ink", isBold: isNow },
          text: shortened(best?.text ?? "", room + 4, SIZE),
        },
        {
          kind: "rectangle",
          ...{ x: bars + room + 8, y: y - 7, width: BAR, height: 14, radius: 3, fill: "panel" },
        },
        {
          kind: "rectangle",
          ...{ x: bars + room + 8, y: y - 7, height: 14, radius: 3, fill: "look" },
          width: Math.max(1, BAR * share),
        },
        {
          kind: "text",
          ...{ x: bars + room + BAR + 16, y, text: percent(share), size: SMALL, colour: "soft" },
        },
      ];
    }),
  ];
  return {
    width: Math.ceil(Math.max(width, bars + room + BAR + 60)),
    height: Math.ceil(Math.max(TOP + height + 10, line(gazes.length - 0.5) + GAP)),
    title,
    items,
  };
}

/** Which cell of the picture lies at a place of the scene, by its row and column. */
export function cellAt(
  trace: Trace,
  x: number,
  y: number,
  isNarrow = false,
): readonly [number, number] | null {
  const [rows, columns] = trace.picture?.grid ?? [1, 1];
  const { pixels, scale } = sized(trace);
  const [width, height] = [pixels[0] * scale, pixels[1] * scale];
  const isSecond = isNarrow ? y > TOP + height + GAP : x > width + GAP;
  const across = isSecond && !isNarrow ? x - width - 2 * GAP : x;
  const below = isSecond && isNarrow ? y - height - TOP : y;
  const cell = [
    Math.floor(((below - TOP) / height) * rows),
    Math.floor((across / width) * columns),
  ] as const;
  const isInside = cell[0] >= 0 && cell[0] < rows && cell[1] >= 0 && cell[1] < columns;
  return isInside ? cell : null;
}

/** A picture that was drawn, and beside it where the generator looked to draw one place of it. */
export function placeFigure(
  trace: Trace,
  place: readonly [number, number],
  weights: readonly number[],
  title: string,
  words: { picture: string; looked: string },
  isNarrow = false,
): Scene {
  const [rows, columns] = trace.picture?.grid ?? [1, 1];
  const { source, pixels, scale } = sized(trace);
  const [width, height] = [pixels[0] * scale, pixels[1] * scale];
  const most = Math.max(...weights, 1e-9);
  const light = Array.from({ length: rows }, (_, i) =>
    weights.slice(i * columns, (i + 1) * columns).map((weight) => weight / most),
  );
  const items = [words.picture, words.looked].flatMap((text, k): Item[] => {
    const [x, y] = isNarrow ? [0, k * (TOP + height)] : [k * (width + 2 * GAP), 0];
    const cell = [width / columns, height / rows] as const;
    return [
      { kind: "text", x, y: y + 12, text, size: SMALL, colour: "soft" },
      {
        kind: "image",
        ...{ x, y: y + TOP, width, height, source, isSharp: true, ...(k ? { light } : {}) },
      },
      {
        kind: "rectangle",
        ...{ x: x + place[1] * cell[0], y: y + TOP + place[0] * cell[1], stroke: "mark" },
        ...{ width: cell[0], height: cell[1], strokeWidth: 2 },
      },
    ];
  });
  return {
    width: Math.ceil(isNarrow ? width : 2 * width + 2 * GAP),
    height: Math.ceil((TOP + height) * (isNarrow ? 2 : 1) + 2),
    title,
    items,
  };
}
