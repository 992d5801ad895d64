// The six steps from a query and a key to a context, each a figure of its own.
import type { Arithmetic } from "../arithmetic";
import type { Item, Scene } from "../scene";
import { textWidth } from "../scene";
import type { Say } from "../words";
import { sharesFigure } from "./bars";
import { short, vectorsFigure } from "./vectors";

const MOST_VALUES = 5;

/** A formula in large type, the result marked; both meet at one place, so no width is guessed. */
export function equationFigure(formula: string, result: string, title: string): Scene {
  const [size, middle] = [24, 260];
  const items: Item[] = [
    { kind: "text", x: middle, y: 22, text: formula, size, colour: "ink", anchor: "end" },
    { kind: "text", x: middle + 12, y: 22, text: result, size, colour: "mark", isBold: true },
  ];
  return {
    width: Math.ceil(middle + 12 + 1.15 * textWidth(result, size)),
    height: 44,
    title,
    items,
  };
}

export function signed(value: number, digits = 2): string {
  const text = value.toFixed(digits);
  return Number(text) === 0 ? (0).toFixed(digits) : text.replace("-", "−");
}

/** A change, in three digits. */
export const withSign = (value: number): string => `${value >= 0 ? "+" : ""}${signed(value, 3)}`;

const whole = (value: number): string => (Number.isInteger(value) ? String(value) : signed(value));

/** The figures of the steps, in order; a line of a vector has `inLine` numbers. */
export function arithmeticFigures(found: Arithmetic, say: Say, inLine: number): Scene[] {
  const vectors = vectorsFigure({
    title: say("step1"),
    rows: [
      { name: `q ${found.row_token}`, values: found.query },
      { name: `k ${found.column_token}`, values: found.key },
    ],
    inLine,
  });
  const isProduct = found.products !== null && found.sum !== null;
  const products = vectorsFigure({
    title: say("step2"),
    rows: [{ name: "q × k", values: found.products ?? [] }],
    inLine,
  });
  const sum = equationFigure("qᵀk = Σ qᵢkᵢ =", whole(found.sum ?? 0), say("step3"));
  const scaled = equationFigure(
    found.divisor === null ? "e =" : `e = ${whole(found.sum ?? 0)} / ${whole(found.divisor)} =`,
    whole(found.score),
    say("step4"),
  );
  return [
    vectors,
    ...(isProduct ? [products, sum, scaled] : []),
    rowFigure(found, say),
    sumFigure(found, say, inLine),
  ];
}

function rowFigure(found: Arithmetic, say: Say): Scene {
  const bars = found.column_tokens.map((text, j) => ({
    text,
    value: found.weights[j] ?? 0,
    said: found.may_see[j]
      ? `e = ${whole(found.scores[j] ?? 0)} → ${(found.weights[j] ?? 0).toFixed(3)}`
      : "−∞ → 0",
    isMarked: j === found.column,
  }));
  return sharesFigure(bars, say("step5"), 1, 260);
}

function sumFigure(found: Arithmetic, say: Say, inLine: number): Scene {
  const strongest = found.weights
    .map((weight, j) => ({ weight, j }))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, MOST_VALUES)
    .sort((a, b) => a.j - b.j);
  const parts = strongest.map(({ weight, j }) => ({
    name: `${short(weight)} · v ${found.column_tokens[j] ?? ""}`,
    values: (found.values[j] ?? []).map((value) => weight * value),
  }));
  const dots = found.weights.length > parts.length ? "… Σ = z" : "Σ = z";
  return vectorsFigure({
    title: say("step6"),
    rows: [...parts, { name: dots, values: found.context, isMarked: true }],
    inLine,
    isShared: true,
  });
}
