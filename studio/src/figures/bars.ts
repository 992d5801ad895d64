// Bars beside words: shares of one, or changes to both sides of zero.
import type { Colour } from "../colours";
import { type Item, type Scene, shortened, textWidth } from "../scene";

export interface Bar {
  text: string;
  value: number;
  said: string;
  colour?: Colour;
  isMarked?: boolean;
}

const SIZE = 14;
const ROW = 25;

/** Each bar as long as its share of `most`. */
export function sharesFigure(bars: readonly Bar[], title: string, most = 1, length = 240): Scene {
  const left = Math.ceil(
    Math.max(20, ...bars.map((bar) => Math.min(150, textWidth(bar.text, SIZE)))) + 18,
  );
  const items = bars.flatMap((bar, i): Item[] => {
    const y = (i + 0.5) * ROW;
    const width = (Math.max(0, bar.value) / (most || 1)) * length;
    return [
      {
        kind: "text",
        x: left - 10,
        y,
        text: shortened(bar.text, 150, SIZE),
        size: SIZE,
        colour: "ink",
        anchor: "end",
        isBold: bar.isMarked ?? false,
        row: i,
      },
      {
        kind: "rectangle",
        x: left,
        y: y - 8,
        width: Math.max(1, width),
        height: 16,
        fill: bar.colour ?? "look",
        opacity: bar.isMarked === false ? 0.45 : 0.85,
        radius: 3,
      },
      {
        kind: "text",
        x: left + Math.max(1, width) + 8,
        y,
        text: bar.said,
        size: 12.5,
        colour: "soft",
      },
    ];
  });
  const widest = Math.max(0, ...bars.map((bar) => textWidth(bar.said, 12.5)));
  return {
    width: Math.ceil(left + length + widest + 16),
    height: Math.max(1, bars.length * ROW),
    title,
    items,
  };
}

/** Losses to the left in one colour, gains to the right in another. */
export function changesFigure(bars: readonly Bar[], title: string, length = 150): Scene {
  const most = Math.max(0.05, ...bars.map((bar) => Math.abs(bar.value)));
  const labels = Math.ceil(
    Math.max(20, ...bars.map((bar) => Math.min(150, textWidth(bar.text, SIZE)))) + 18,
  );
  const numbers = 58;
  const zero = labels + numbers + length;
  const height = Math.max(1, bars.length) * ROW;
  const items: Item[] = [
    {
      kind: "path",
      points: [
        [zero, 0],
        [zero, height],
      ],
      colour: "faint",
      width: 1,
    },
    ...bars.flatMap((bar, i): Item[] => {
      const y = (i + 0.5) * ROW;
      const width = (Math.abs(bar.value) / most) * length;
      const isLoss = bar.value < 0;
      return [
        {
          kind: "text",
          x: labels - 10,
          y,
          text: shortened(bar.text, 150, SIZE),
          size: SIZE,
          colour: "ink",
          anchor: "end",
          row: i,
        },
        {
          kind: "rectangle",
          x: isLoss ? zero - width : zero,
          y: y - 8,
          width,
          height: 16,
          fill: isLoss ? "mark" : "look",
          opacity: 0.85,
          radius: 3,
        },
        {
          kind: "text",
          x: isLoss ? zero - width - 7 : zero + width + 7,
          y,
          text: bar.said,
          size: 12.5,
          colour: "soft",
          anchor: isLoss ? "end" : "start",
        },
      ];
    }),
  ];
  return { width: zero + length + numbers, height, title, items };
}
