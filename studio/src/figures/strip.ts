// One head over the updates of a run, from left to right: a small picture of each moment.
import { type Item, type Scene, textWidth } from "../scene";
import type { Matrix } from "../table";

export interface Frame {
  text: string;
  values: Matrix;
  isChosen: boolean;
}

export interface Strip {
  scene: Scene;
  /** from the left edge of one frame to that of the next */
  pitch: number;
}

const APART = 12;
const SIZE = 12;

export function stripFigure(
  frames: readonly Frame[],
  title: string,
  high: number,
  side = 82,
): Strip {
  const [rows, columns] = [
    Math.max(1, ...frames.map((one) => one.values.length)),
    Math.max(1, ...frames.map((one) => one.values[0]?.length ?? 1)),
  ];
  const width = columns >= rows ? side : Math.max(40, (side * columns) / rows);
  const height = rows >= columns ? side : Math.max(40, (side * rows) / columns);
  const wide = Math.max(width, ...frames.map((one) => textWidth(one.text, SIZE)));
  const pitch = wide + APART;
  const items = frames.flatMap((frame, i): Item[] => {
    const x = 3 + i * pitch + (wide - width) / 2;
    return [
      {
        kind: "heat",
        ...{ x, y: 3, width, height, values: frame.values, low: 0, high, ramp: "weights" },
      },
      {
        kind: "rectangle",
        ...{ x: x - 1.5, y: 1.5, width: width + 3, height: height + 3, radius: 2 },
        stroke: frame.isChosen ? "mark" : "line",
        strokeWidth: frame.isChosen ? 2.5 : 1,
      },
      {
        kind: "text",
        ...{ x: x + width / 2, y: height + 16, text: frame.text, size: SIZE, anchor: "middle" },
        colour: frame.isChosen ? "ink" : "soft",
        isBold: frame.isChosen,
      },
    ];
  });
  return {
    scene: { width: Math.ceil(frames.length * pitch + 6), height: height + 28, title, items },
    pitch,
  };
}
