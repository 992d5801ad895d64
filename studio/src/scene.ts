// A picture as items in pixels, colours as roles; whoever draws it knows nothing of attention.
import type { Colour, Ramp } from "./colours";

export interface Text {
  kind: "text";
  x: number;
  y: number;
  text: string;
  size: number;
  colour: Colour;
  anchor?: "start" | "middle" | "end";
  isBold?: boolean;
  turned?: number;
  /** the shade it stands on: the colour is then whichever can be read there */
  over?: { ramp: Ramp; shade: number };
  row?: number;
  column?: number;
}

export interface Path {
  kind: "path";
  points: readonly (readonly [number, number])[];
  colour: Colour;
  width: number;
  opacity?: number;
  isCurve?: boolean;
}

export interface Rectangle {
  kind: "rectangle";
  x: number;
  y: number;
  width: number;
  height: number;
  fill?: Colour;
  stroke?: Colour;
  strokeWidth?: number;
  radius?: number;
  opacity?: number;
}

export interface Heat {
  kind: "heat";
  x: number;
  y: number;
  width: number;
  height: number;
  values: readonly (readonly number[])[];
  low: number;
  high: number;
  ramp: Ramp;
  /** cells that may not be looked at: hatched, whatever their value */
  masked?: Mask | undefined;
}

/** A picture, dark where its cells get no light; without light all of it is bright. */
export interface Image {
  kind: "image";
  x: number;
  y: number;
  width: number;
  height: number;
  /** a data: address */
  source: string;
  /** from 0 to 1, of each cell */
  light?: readonly (readonly number[])[];
  /** a square of it alone, in its own pixels; black where it lies outside */
  part?: { x: number; y: number; side: number; pixels: readonly [number, number] };
  /** whether each of its pixels is seen */
  isSharp?: boolean;
}

/** true where a cell is masked */
export type Mask = readonly (readonly boolean[])[];

export type Item = Text | Path | Rectangle | Heat | Image;

export interface Scene {
  width: number;
  height: number;
  title: string;
  items: readonly Item[];
}

export const FONTS =
  "'Noto Sans','DejaVu Sans','Segoe UI','Helvetica Neue',Arial,'Noto Sans CJK SC','Noto Sans SC'," +
  "'Source Han Sans SC','PingFang SC','Microsoft YaHei','WenQuanYi Zen Hei',sans-serif";

const NARROW = new Set("iIl.,:;'|!’‘·jft()[]");
const BROAD = new Set("mwMWOQ%@&…—");
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;

/** Whether a character is as wide as it is high, as Chinese ones are. */
export const isWide = (character: string): boolean => WIDE.test(character);

function widthOf(character: string): number {
  if (isWide(character)) return 1;
  if (NARROW.has(character)) return 0.38;
  if (BROAD.has(character)) return 0.9;
  return /\p{Lu}/u.test(character) ? 0.7 : 0.61;
}

/** About how many pixels a text takes, rather too many. */
export const textWidth = (text: string, size: number): number =>
  size * Array.from(text).reduce((sum, character) => sum + widthOf(character), 0);

/** The text, or as much of its beginning as fits, and dots. */
export function shortened(text: string, most: number, size: number): string {
  if (textWidth(text, size) <= most) return text;
  const kept = Array.from(text);
  while (kept.length > 0 && textWidth(`${kept.join("")}…`, size) > most) kept.pop();
  return `${kept.join("")}…`;
}

/** The text in lines that fit: broken at spaces, and between characters that need none. */
export function wrapped(text: string, most: number, size: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const part of text.match(/\s+|[^\s\u2e80-\uffef]+|[\u2e80-\uffef]/gu) ?? []) {
    if (line !== "" && textWidth(line + part.trimEnd(), size) > most) {
      lines.push(line.trimEnd());
      line = "";
    }
    line += line === "" ? part.trimStart() : part;
  }
  return line === "" ? lines : [...lines, line.trimEnd()];
}

export function moved(item: Item, x: number, y: number): Item {
  if (item.kind === "path") {
    return { ...item, points: item.points.map(([a, b]) => [a + x, b + y] as const) };
  }
  return { ...item, x: item.x + x, y: item.y + y };
}

/** Scenes below each other, as one. */
export function stacked(scenes: readonly Scene[], title: string, apart = 28): Scene {
  const items: Item[] = [];
  let y = 0;
  let width = 0;
  for (const scene of scenes) {
    items.push(...scene.items.map((item) => moved(item, 0, y)));
    y += scene.height + apart;
    width = Math.max(width, scene.width);
  }
  return { width, height: Math.max(1, y - apart), title, items };
}

/** Scenes side by side, as one. */
export function beside(scenes: readonly Scene[], title: string, apart = 40): Scene {
  const items: Item[] = [];
  let x = 0;
  let height = 1;
  for (const scene of scenes) {
    items.push(...scene.items.map((item) => moved(item, x, 0)));
    x += scene.width + apart;
    height = Math.max(height, scene.height);
  }
  return { width: Math.max(1, x - apart), height, title, items };
}

/** A scene below lines that say what it is; the first of them stand out. */
export function titled(scene: Scene, lines: readonly string[], size = 15, nBold = 1): Scene {
  const top = lines.length * size * 1.5 + 8;
  const words = lines.map((text, i): Text => {
    const y = (i + 0.5) * size * 1.5;
    const isBold = i < nBold;
    return { kind: "text", x: 0, y, text, size, colour: isBold ? "ink" : "soft", isBold };
  });
  const widest = Math.max(0, ...lines.map((text) => textWidth(text, size)));
  return {
    ...scene,
    width: Math.ceil(Math.max(scene.width, widest)),
    height: scene.height + top,
    items: [...words, ...scene.items.map((item) => moved(item, 0, top))],
  };
}

/** The same with a margin around it, for a file of its own. */
export function framed(scene: Scene, margin = 24): Scene {
  return {
    ...scene,
    width: scene.width + 2 * margin,
    height: scene.height + 2 * margin,
    items: scene.items.map((item) => moved(item, margin, margin)),
  };
}
