// A scene on a canvas: the grid of heads on the page, and every picture that is saved as PNG.
import { COLOURS, type Theme, hex, rampTable, readable, shade } from "./colours";
import type { Matrix } from "./table";
import { FONTS, type Heat, type Item, type Scene, type Text } from "./scene";

const DARK = 0.8; // how dark it is where there is no light
const loaded = new Map<string, HTMLImageElement>();

/** Load the pictures of a scene: a canvas draws only what is there. */
export async function load(scene: Scene): Promise<void> {
  for (const item of scene.items) {
    if (item.kind !== "image" || loaded.has(item.source)) continue;
    const image = new Image();
    image.src = item.source;
    await image.decode();
    loaded.set(item.source, image);
  }
}

/** Darkness over a picture, a pixel for each cell: made larger, the cells blend into each other. */
export function veil(light: Matrix): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [light[0]?.length ?? 1, light.length || 1];
  const context = canvas.getContext("2d");
  const image = context?.createImageData(canvas.width, canvas.height);
  light.flat().forEach((value, i) => image?.data.set([0, 0, 0, 255 * DARK * (1 - value)], 4 * i));
  if (image) context?.putImageData(image, 0, 0);
  return canvas;
}

export function paint(context: CanvasRenderingContext2D, scene: Scene, theme: Theme): void {
  context.fillStyle = COLOURS[theme].ground;
  context.fillRect(0, 0, scene.width, scene.height);
  for (const item of scene.items) put(context, item, theme);
}

export const textColour = (item: Text, theme: Theme): string =>
  item.over ? readable(theme, item.over.ramp, item.over.shade) : COLOURS[theme][item.colour];

function put(context: CanvasRenderingContext2D, item: Item, theme: Theme): void {
  const colours = COLOURS[theme];
  context.save();
  switch (item.kind) {
    case "text":
      context.font = `${item.isBold ? "600 " : ""}${item.size}px ${FONTS}`;
      context.fillStyle = textColour(item, theme);
      context.textAlign =
        item.anchor === "end" ? "right" : item.anchor === "middle" ? "center" : "left";
      context.translate(item.x, item.y);
      context.rotate(((item.turned ?? 0) * Math.PI) / 180);
      context.fillText(item.text, 0, 0.35 * item.size);
      break;
    case "path": {
      context.strokeStyle = colours[item.colour];
      context.lineWidth = item.width;
      context.globalAlpha = item.opacity ?? 1;
      context.beginPath();
      const [first, ...rest] = item.points;
      if (first) context.moveTo(...first);
      const [a, b, c] = rest;
      if (item.isCurve && a && b && c) context.bezierCurveTo(...a, ...b, ...c);
      else for (const point of rest) context.lineTo(...point);
      context.stroke();
      break;
    }
    case "rectangle":
      context.globalAlpha = item.opacity ?? 1;
      context.beginPath();
      context.roundRect(item.x, item.y, item.width, item.height, item.radius ?? 0);
      if (item.fill) {
        context.fillStyle = colours[item.fill];
        context.fill();
      }
      if (item.stroke) {
        context.strokeStyle = colours[item.stroke];
        context.lineWidth = item.strokeWidth ?? 1;
        context.stroke();
      }
      break;
    case "image": {
      const { x, y, width, height } = item;
      const image = loaded.get(item.source);
      context.imageSmoothingEnabled = !item.isSharp;
      if (image && item.part) {
        const { x: left, y: top, side, pixels } = item.part;
        const scale = width / side;
        context.beginPath();
        context.rect(x, y, width, height);
        context.clip();
        context.fillRect(x, y, width, height);
        context.translate(x - left * scale, y - top * scale);
        context.drawImage(image, 0, 0, pixels[0] * scale, pixels[1] * scale);
      } else if (image) context.drawImage(image, x, y, width, height);
      context.imageSmoothingEnabled = true;
      if (item.light) context.drawImage(veil(item.light), x, y, width, height);
      break;
    }
    case "heat":
      paintHeat(context, item, theme);
  }
  context.restore();
}

function paintHeat(context: CanvasRenderingContext2D, heat: Heat, theme: Theme): void {
  const image = bitmap(heat, theme);
  if (image === null) return;
  context.imageSmoothingEnabled = false;
  context.drawImage(image, heat.x, heat.y, heat.width, heat.height);
  paintHatching(context, heat, theme);
}

export function paintHatching(
  context: CanvasRenderingContext2D,
  heat: Omit<Heat, "kind" | "ramp" | "low" | "high">,
  theme: Theme,
): void {
  context.save();
  context.beginPath();
  for (const [x1, y1, x2, y2] of hatching(heat)) {
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
  }
  context.strokeStyle = COLOURS[theme].faint;
  context.lineWidth = HATCH;
  context.stroke();
  context.restore();
}

export const HATCH = 1; // how thick its lines are
const HATCH_APART = 7;

/** The slanted lines of masked cells, as from, to; those of neighbours meet. */
export function hatching(
  heat: Omit<Heat, "kind" | "ramp" | "low" | "high">,
): readonly (readonly [number, number, number, number])[] {
  if (heat.masked === undefined) return [];
  const width = heat.width / (heat.values[0]?.length || 1);
  const height = heat.height / (heat.values.length || 1);
  const inCell = Math.max(1, Math.round(width / HATCH_APART));
  const every = Math.max(1, Math.round(HATCH_APART / width)); // of small cells not each has a line
  return heat.masked.flatMap((row, i) =>
    row.flatMap((isMasked, j) => {
      if (!isMasked || (i + j) % every) return [];
      const [x, y] = [heat.x + j * width, heat.y + i * height];
      return Array.from({ length: inCell === 1 ? 1 : 2 * inCell - 1 }, (_, k) => {
        const at = inCell === 1 ? 1 : (k + 1) / inCell;
        const [low, high] = [Math.max(0, at - 1), Math.min(1, at)];
        return [x + low * width, y + high * height, x + high * width, y + low * height] as const;
      });
    }),
  );
}

/** A matrix as an image of one pixel a cell. */
export function bitmap(
  heat: Omit<Heat, "x" | "y" | "width" | "height">,
  theme: Theme,
): HTMLCanvasElement | null {
  const [rows, columns] = [heat.values.length, heat.values[0]?.length ?? 0];
  if (rows === 0 || columns === 0) return null;
  const canvas = document.createElement("canvas");
  canvas.width = columns;
  canvas.height = rows;
  const context = canvas.getContext("2d");
  if (context === null) return null;
  const image = context.createImageData(columns, rows);
  const table = rampTable(theme, heat.ramp);
  heat.values.forEach((row, i) =>
    row.forEach((value, j) => {
      if (heat.masked?.[i]?.[j]) return; // the ground shows
      const colour = table[shade(value, heat.low, heat.high)] ?? [0, 0, 0];
      image.data.set([...colour, 255], 4 * (i * columns + j));
    }),
  );
  context.putImageData(image, 0, 0);
  return canvas;
}

/** One outline for all cells of a shade: as many elements as shades, however large the matrix. */
export function outlines(heat: Heat, theme: Theme): { colour: string; outline: string }[] {
  const table = rampTable(theme, heat.ramp);
  const found = new Map<number, string[]>();
  const [width, height] = [
    heat.width / (heat.values[0]?.length || 1),
    heat.height / (heat.values.length || 1),
  ];
  const short = (value: number): string => String(Math.round(100 * value) / 100);
  heat.values.forEach((row, i) =>
    row.forEach((value, j) => {
      if (heat.masked?.[i]?.[j]) return;
      const place = shade(value, heat.low, heat.high);
      const parts = found.get(place) ?? [];
      const [x, y] = [short(heat.x + j * width), short(heat.y + i * height)];
      parts.push(`M${x} ${y}h${short(width)}v${short(height)}h${short(-width)}z`);
      found.set(place, parts);
    }),
  );
  return [...found]
    .sort(([a], [b]) => a - b)
    .map(([place, parts]) => ({ colour: hex(table[place] ?? [0, 0, 0]), outline: parts.join("") }));
}
