// A text as a picture: lines of words, shaded by how much one of them looked at the others.
import { shade } from "../colours";
import { type Item, type Scene, textWidth } from "../scene";
import { type StoryWord, mostLooked } from "../story_table";

const SIZE = 18;
const ROW = 44;
const SPACE = 6;

interface Placed {
  x: number;
  y: number;
  width: number;
}

/** Words one after the other, as far as a line goes. */
export function placed(words: readonly StoryWord[], width: number): readonly Placed[] {
  let [x, y] = [0, 30];
  return words.map((word) => {
    const long = textWidth(word.text, SIZE) + 8;
    if (word.gap.includes("\n") || (x > 0 && x + long > width)) [x, y] = [0, y + ROW];
    else if (word.gap !== "") x += SPACE;
    const found = { x, y, width: long };
    x += long;
    return found;
  });
}

export function storyFigure(
  words: readonly StoryWord[],
  row: readonly number[] | null,
  focus: number | null,
  title: string,
  top: number,
  width = 760,
): Scene {
  const places = placed(words, width);
  const items: Item[] = [];
  words.forEach((word, i) => {
    const at = places[i];
    if (!at) return;
    const weight = row !== null && i !== focus ? (row[i] ?? 0) : 0;
    const box = { x: at.x, y: at.y - 14, width: at.width, height: 28 };
    if (weight >= 0.005) {
      items.push({ kind: "heat", ...box, values: [[weight]], low: 0, high: top, ramp: "weights" });
    }
    if (i === focus) {
      items.push({ kind: "rectangle", ...box, stroke: "mark", strokeWidth: 2, radius: 4 });
    }
    items.push({
      kind: "text",
      x: at.x + at.width / 2,
      y: at.y,
      text: word.text,
      size: SIZE,
      colour: word.isGiven || word.is_special ? "soft" : "ink",
      anchor: "middle",
      column: i,
      ...(weight >= 0.005
        ? { over: { ramp: "weights" as const, shade: shade(weight, 0, top) } }
        : {}),
    });
  });
  const from = focus === null ? undefined : places[focus];
  for (const i of row === null || !from ? [] : mostLooked(row, 6)) {
    const to = places[i];
    const weight = row?.[i] ?? 0;
    if (!from || !to || i === focus || weight < 0.06) continue;
    const [x1, x2] = [from.x + from.width / 2, to.x + to.width / 2];
    const top = Math.min(from.y, to.y) - 14 - Math.min(40, 12 + 0.1 * Math.abs(x1 - x2));
    items.push({
      kind: "path",
      points: [
        [x1, from.y - 14],
        [x1, top],
        [x2, top],
        [x2, to.y - 14],
      ],
      colour: "mark",
      width: 1 + 5 * weight,
      opacity: 0.3 + 0.6 * weight,
      isCurve: true,
    });
  }
  const height = Math.max(ROW, ...places.map((at) => at.y + 24));
  return { width, height, title, items };
}
