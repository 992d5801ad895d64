// The eight alignment scores of the lectures' table, on one query and its keys.
import { type Rows, type Vector, dot, norm, times } from "./vectors";

export const SCORES = [
  "dot",
  "scaled-dot",
  "additive",
  "general",
  "concatenating",
  "perceptron",
  "content",
  "location",
] as const;
export type ScoreName = (typeof SCORES)[number];

export const FORMULAS: Record<ScoreName, string> = {
  dot: "qᵀk",
  "scaled-dot": "qᵀk / √d",
  additive: "vᵀ tanh(W [q; k])",
  general: "qᵀ W k",
  concatenating: "W [q; k]",
  perceptron: "vᵀ tanh(W q + U k)",
  content: "cos(q, k)",
  location: "(W q)ᵢ",
};

export interface Parameters {
  weight?: Rows;
  weight_query?: Rows;
  weight_key?: Rows;
  v?: Vector;
}

/** How well each key answers the query. */
export function score(
  name: ScoreName,
  query: Vector,
  keys: Rows,
  { weight = [], weight_query = [], weight_key = [], v = [] }: Parameters = {},
): number[] {
  switch (name) {
    case "dot":
      return keys.map((key) => dot(query, key));
    case "scaled-dot":
      return keys.map((key) => dot(query, key) / Math.sqrt(query.length));
    case "additive":
      return keys.map((key) => dot(v, times(weight, [...query, ...key]).map(Math.tanh)));
    case "general":
      return keys.map((key) => dot(query, times(weight, key)));
    case "concatenating":
      return keys.map((key) => times(weight, [...query, ...key])[0] ?? 0);
    case "perceptron": {
      const asked = times(weight_query, query);
      return keys.map((key) =>
        dot(
          v,
          times(weight_key, key).map((value, i) => Math.tanh(value + (asked[i] ?? 0))),
        ),
      );
    }
    case "content":
      return keys.map((key) => dot(query, key) / (norm(query) * norm(key) || 1));
    case "location":
      return times(weight.slice(0, keys.length), query);
  }
}

/** Which matrices a score has, and their sizes. */
export function shapes(
  name: ScoreName,
  width: number,
  nKeys: number,
): Record<string, [number, number]> {
  switch (name) {
    case "additive":
      return { weight: [width, 2 * width], v: [1, width] };
    case "general":
      return { weight: [width, width] };
    case "concatenating":
      return { weight: [1, 2 * width] };
    case "perceptron":
      return { weight_query: [width, width], weight_key: [width, width], v: [1, width] };
    case "location":
      return { weight: [nKeys, width] };
    default:
      return {};
  }
}

export function drawnParameters(
  name: ScoreName,
  width: number,
  nKeys: number,
  draw: () => number,
): Parameters {
  const made: Record<string, number[][]> = {};
  for (const [key, [rows, columns]] of Object.entries(shapes(name, width, nKeys))) {
    made[key] = Array.from({ length: rows }, () => Array.from({ length: columns }, draw));
  }
  const { v, ...matrices } = made;
  return v === undefined ? matrices : { ...matrices, v: v[0] ?? [] };
}
