// The colours of a matrix and the numbers at their ends; and how a masked cell looks.
import type { Ramp } from "../colours";
import { type Item, type Scene, beside, stacked, textWidth } from "../scene";
import type { Say } from "../words";

export interface Scale {
  ramp: Ramp;
  low: number;
  high: number;
}

const [LENGTH, THICK, SIZE, TALL] = [132, 12, 12.5, 20];
const SHADES = 66;

/** A number at the end of a scale, as short as three digits allow. */
export function endSaid(value: number, ramp: Ramp): string {
  const text = String(Number(Math.abs(value).toFixed(3)));
  if (Number(text) === 0) return "0";
  return value < 0 ? `−${text}` : ramp === "signed" ? `+${text}` : text;
}

export function scaleFigure({ ramp, low, high }: Scale, say: Say): Scene {
  const ends = [endSaid(low, ramp), endSaid(high, ramp)] as const;
  const left = Math.ceil(textWidth(ends[0], SIZE) + 7);
  const values = Array.from({ length: SHADES }, (_, i) => low + (i / (SHADES - 1)) * (high - low));
  const y = (TALL - THICK) / 2;
  const bar = { x: left, y, width: LENGTH, height: THICK };
  const items: Item[] = [
    {
      kind: "text",
      x: left - 6,
      y: TALL / 2,
      text: ends[0],
      size: SIZE,
      colour: "soft",
      anchor: "end",
    },
    { kind: "heat", ...bar, values: [values], low, high, ramp },
    { kind: "rectangle", ...bar, stroke: "line", strokeWidth: 1 },
    { kind: "text", x: left + LENGTH + 6, y: TALL / 2, text: ends[1], size: SIZE, colour: "soft" },
  ];
  return {
    width: Math.ceil(left + LENGTH + 8 + textWidth(ends[1], SIZE)),
    height: TALL,
    title: say("scaleSaid", { low: ends[0], high: ends[1] }),
    items,
  };
}

export function maskedFigure(say: Say): Scene {
  const text = say("masked");
  const box = { x: 1, y: (TALL - 16) / 2, width: 22, height: 16 };
  return {
    width: Math.ceil(32 + textWidth(text, SIZE)),
    height: TALL,
    title: text,
    items: [
      { kind: "heat", ...box, values: [[0]], masked: [[true]], low: 0, high: 1, ramp: "weights" },
      { kind: "rectangle", ...box, stroke: "line", strokeWidth: 1 },
      { kind: "text", x: 30, y: TALL / 2, text, size: SIZE, colour: "soft" },
    ],
  };
}

interface Scaled {
  scene: Scene;
  scale: Scale;
  hasMasked: boolean;
}

/** A picture for a file of its own, with its scale below. */
export function withScale({ scene, scale, hasMasked }: Scaled, say: Say): Scene {
  const legend = [scaleFigure(scale, say), ...(hasMasked ? [maskedFigure(say)] : [])];
  return stacked([scene, beside(legend, scene.title, 18)], scene.title, 12);
}
