// One site as people read it: labelled rows and columns, tokens merged into words if wanted.
import {
  CELL,
  type Kind,
  type Sentence,
  type Site,
  type Token,
  type Trace,
  isSpecial,
  isUnknown,
  tokensRead,
} from "./trace";

export type Reading = "predicting" | "reading";

export interface Label {
  text: string;
  places: readonly number[];
  is_special: boolean;
  /** whether the model's vocabulary lacks it */
  is_unknown?: boolean;
  /** from which character of the sentence to which; nothing for what stands for no text */
  span?: readonly [number, number];
}

export type Matrix = readonly (readonly number[])[];

export interface Table {
  kind: Kind;
  layer: number;
  heads: readonly number[];
  rows: readonly Label[];
  columns: readonly Label[];
  /** weights[i] belongs to heads[i] */
  weights: readonly Matrix[];
  reading: Reading;
}

/** A step looks at the source to predict a word, and at what was written as the word just read. */
export const usualReading = (kind: Kind): Reading => (kind === "cross" ? "predicting" : "reading");

export function labels(
  sentence: Sentence,
  tokens: readonly Token[],
  merges: boolean,
): readonly Label[] {
  // The cells of a picture have no id, and none is part of a word.
  const areCells = tokens.every((token) => token.id < 0);
  return merges && !areCells ? wordLabels(sentence, tokens) : tokenLabels(tokens);
}

function tokenLabels(tokens: readonly Token[]): readonly Label[] {
  const marks = tokens.some((token) => token.text.startsWith("▁"));
  let before: number | null = null;
  return tokens.map((token, place) => {
    let text = token.text.replaceAll("▁", " ").trim() || "␣";
    if (marks && token.word != null && token.word === before) text = `·${text}`;
    before = token.word ?? null;
    const is_special = isSpecial(token);
    const is_unknown = isUnknown(token);
    const { start, end } = token;
    const span = is_special || end <= start ? {} : { span: [start, end] as const };
    return { text, places: [place], is_special, is_unknown, ...span };
  });
}

function wordLabels(sentence: Sentence, tokens: readonly Token[]): readonly Label[] {
  // Offsets count characters, as Python does; some characters are two units of JavaScript's.
  const characters = Array.from(sentence.text);
  const slice = (start: number, end: number): string => characters.slice(start, end).join("");
  const found: Label[] = [];
  let start = -1;
  let end = -1;
  tokens.forEach((token, place) => {
    const word = token.word == null ? undefined : sentence.words[token.word];
    const last = found.at(-1);
    if (word === undefined) {
      found.push({ text: token.text, places: [place], is_special: token.id !== CELL });
      start = end = -1;
    } else if (start >= 0 && word.start < end && last !== undefined) {
      end = Math.max(end, word.end, token.end);
      found[found.length - 1] = {
        text: slice(start, end),
        places: [...last.places, place],
        is_special: false,
        is_unknown: last.is_unknown === true || isUnknown(token),
        span: [start, end],
      };
    } else {
      start = word.start;
      end = Math.max(word.end, token.end);
      found.push({
        text: slice(start, end),
        places: [place],
        is_special: false,
        is_unknown: isUnknown(token),
        span: [start, end],
      });
    }
  });
  return found;
}

/** The words of a sentence that the model's vocabulary lacks. */
export const unknownLabels = (sentence: Sentence): readonly Label[] =>
  labels(sentence, sentence.tokens, true).filter((label) => label.is_unknown);

const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);

/** The column of a word is the sum over its tokens, its row their mean. */
export function merged(weights: Matrix, rows: readonly Label[], columns: readonly Label[]): Matrix {
  return rows.map((row) =>
    columns.map(
      (column) =>
        sum(row.places.map((i) => sum(column.places.map((j) => weights[i]?.[j] ?? 0)))) /
        row.places.length,
    ),
  );
}

export interface Wish {
  heads?: readonly number[];
  reading?: Reading | null;
  merges?: boolean;
  hidesSpecial?: boolean;
}

export function tableOf(trace: Trace, site: Site, wish: Wish = {}): Table {
  const reading = wish.reading ?? usualReading(site.kind);
  const merges = wish.merges ?? true;
  const { source, target } = trace;
  const read = tokensRead(target);
  const rowTokens = reading === "predicting" ? target.tokens : read;
  let rows =
    site.kind === "encoder"
      ? labels(source, source.tokens, merges)
      : labels(target, rowTokens, merges);
  let columns =
    site.kind === "decoder" ? labels(target, read, merges) : labels(source, source.tokens, merges);
  if (wish.hidesSpecial) {
    rows = rows.filter((label) => !label.is_special);
    columns = columns.filter((label) => !label.is_special);
  }
  const heads = wish.heads ?? site.weights.map((_, head) => head);
  const weights = heads.map((head) => merged(site.weights[head] ?? [], rows, columns));
  return { kind: site.kind, layer: site.layer, heads, rows, columns, weights, reading };
}

/** Whether a row may not look at a column: all of it comes after the row. */
export const isMasked = (kind: Kind, row: Label, column: Label): boolean =>
  kind === "decoder" && (column.places[0] ?? 0) > (row.places.at(-1) ?? 0);

/** Which cells a kind of attention never sees; nothing where it sees all. */
export function maskOf(
  kind: Kind,
  rows: readonly Label[],
  columns: readonly Label[],
): readonly (readonly boolean[])[] | undefined {
  if (kind !== "decoder") return undefined;
  return rows.map((row) => columns.map((column) => isMasked(kind, row, column)));
}

const largest = new WeakMap<Site, number>();

function largestOf(site: Site): number {
  const known = largest.get(site);
  if (known !== undefined) return known;
  const found = site.weights.flat().reduce((most, row) => Math.max(most, ...row), 0);
  largest.set(site, found);
  return found;
}

/** The largest weight of all heads of one kind: the end of the scale that their pictures share. */
export function topOf(trace: Trace, kind: Kind, ...shown: readonly Matrix[]): number {
  const sites = trace.sites.filter((site) => site.kind === kind).map(largestOf);
  const more = shown.flat().map((row) => Math.max(...row)); // whole words may have more
  return Math.max(0, ...sites, ...more) || 1;
}

export function mean(matrices: readonly Matrix[]): Matrix {
  const [first] = matrices;
  if (first === undefined) return [];
  return first.map((row, i) =>
    row.map((_, j) => sum(matrices.map((one) => one[i]?.[j] ?? 0)) / matrices.length),
  );
}

/** Let the shares of each row sum to one again, where anything is left of it. */
export function madeWhole(matrix: Matrix): Matrix {
  return matrix.map((row) => {
    const total = sum(row);
    return total > 0 ? row.map((value) => value / total) : row;
  });
}

/** The label that stands for the token at this place. */
export function labelAt(found: readonly Label[], place: number | null): number | null {
  if (place === null) return null;
  const index = found.findIndex((label) => label.places.includes(place));
  return index < 0 ? null : index;
}

/** The strongest pair of tokens within a cell of words. */
export function strongest(weights: Matrix, row: Label, column: Label): [number, number] {
  let best: [number, number] = [row.places[0] ?? 0, column.places[0] ?? 0];
  for (const i of row.places) {
    for (const j of column.places) {
      if ((weights[i]?.[j] ?? 0) > (weights[best[0]]?.[best[1]] ?? 0)) best = [i, j];
    }
  }
  return best;
}
