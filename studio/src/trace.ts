// A trace as Regard writes it (Trace.to_json), and the checks that let a stranger's file be shown.

export const KINDS = ["encoder", "decoder", "cross"] as const;
export type Kind = (typeof KINDS)[number];

export interface Word {
  text: string;
  start: number;
  end: number;
}

export interface Token extends Word {
  id: number;
  word: number | null;
}

export interface Sentence {
  text: string;
  words: readonly Word[];
  tokens: readonly Token[];
  /** what a decoder reads before it writes the first token; <s> unless it is said */
  first?: Token | null;
}

export interface Site {
  kind: Kind;
  layer: number;
  is_uniform: readonly boolean[];
  /** weights[head][row][column] */
  weights: readonly (readonly (readonly number[])[])[];
}

export interface Alternative {
  id: number;
  text: string;
  log_probability: number;
}

export interface Step {
  log_probability: number;
  alternatives: readonly Alternative[];
}

export interface Provenance {
  model: string;
  kind: string;
  recipe: string;
  version: string;
  is_forced: boolean;
  [other: string]: string | number | boolean;
}

/** What the two sentences of a trace are.
 *
 * Whoever translates reads the source and writes the target; whoever writes goes on from the
 * source, and the target is the whole text; whoever fills reads the source, and the target holds
 * a token for each of its gaps. */
export type Does = "translate" | "write" | "fill";

export interface Trace {
  does?: Does;
  format: number;
  source: Sentence;
  target: Sentence;
  sites: readonly Site[];
  steps: readonly Step[];
  provenance: Provenance;
  aligning: number | null;
}

export const FORMAT = 1;
const BOS: Token = { id: 2, text: "<s>", start: 0, end: 0, word: null };
const SPECIAL = new Set([0, 2, 3]); // PAD, BOS, EOS
const UNKNOWN = 1;
export const MASK = "[MASK]"; // where a word was taken out

export const isSpecial = (token: Token): boolean => SPECIAL.has(token.id);

/** Whether the vocabulary lacks it: to the model all such words are one. */
export const isUnknown = (token: Token): boolean => token.id === UNKNOWN;

/** What a decoder reads while it writes these tokens: <s>, then all but the last. */
export const tokensRead = (sentence: Sentence): readonly Token[] => [
  sentence.first ?? BOS,
  ...sentence.tokens.slice(0, -1),
];

export const layersOf = (trace: Trace, kind: Kind): readonly number[] =>
  trace.sites.filter((site) => site.kind === kind).map((site) => site.layer);

export const kindsOf = (trace: Trace): readonly Kind[] =>
  KINDS.filter((kind) => trace.sites.some((site) => site.kind === kind));

export function siteOf(trace: Trace, kind: Kind, layer: number): Site | undefined {
  return trace.sites.find((site) => site.kind === kind && site.layer === layer);
}

/** Whether there is such a head, named as in cross.1.0. */
export function hasHead(trace: Trace, name: string): boolean {
  const [kind, layer, head] = name.split(".");
  const site = trace.sites.find((one) => one.kind === kind && one.layer === Number(layer));
  return site?.weights[Number(head)] !== undefined;
}

/** The layer to show unless another is asked for: the aligning one, or the last. */
export function defaultLayer(trace: Trace, kind: Kind): number {
  if (kind === "cross" && trace.aligning !== null) return trace.aligning;
  return layersOf(trace, kind).at(-1) ?? 0;
}

export const doesOf = (trace: Trace): Does => trace.does ?? "translate";

/** How many of the steps are about tokens that were given: those of a prompt. */
export const nGiven = (trace: Trace): number =>
  doesOf(trace) === "write" ? trace.source.tokens.length - 1 : 0;

/** How many of the steps are about tokens that the model chose. */
export const nWritten = (trace: Trace): number => trace.steps.length - nGiven(trace);

export class NotATrace extends Error {}

export class TooNew extends Error {}

type Plain = Record<string, unknown>;

const isObject = (value: unknown): value is Plain =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isNumber = (value: unknown): value is number =>
  typeof value === "number" && Number.isFinite(value);

function isSentence(value: unknown): value is Sentence {
  if (!isObject(value) || typeof value.text !== "string") return false;
  const { words, tokens, first = null } = value;
  if (!Array.isArray(words) || !Array.isArray(tokens)) return false;
  const isWord = (word: unknown): boolean =>
    isObject(word) && typeof word.text === "string" && isNumber(word.start) && isNumber(word.end);
  const isToken = (token: unknown): boolean =>
    isObject(token) &&
    isWord(token) &&
    isNumber(token.id) &&
    (token.word === null || (isNumber(token.word) && token.word >= 0 && token.word < words.length));
  return words.every(isWord) && tokens.every(isToken) && (first === null || isToken(first));
}

const isMatrix = (value: unknown, rows: number, columns: number): boolean =>
  Array.isArray(value) &&
  value.length === rows &&
  value.every(
    (row: unknown) => Array.isArray(row) && row.length === columns && row.every(isNumber),
  );

function isSite(value: unknown, nSource: number, nTarget: number): value is Site {
  if (!isObject(value) || !isNumber(value.layer) || !Array.isArray(value.weights)) return false;
  if (!KINDS.some((kind) => kind === value.kind) || !Array.isArray(value.is_uniform)) return false;
  const rows = value.kind === "encoder" ? nSource : nTarget;
  const columns = value.kind === "decoder" ? nTarget : nSource;
  return (
    value.weights.length === value.is_uniform.length &&
    value.weights.length > 0 &&
    value.weights.every((head: unknown) => isMatrix(head, rows, columns))
  );
}

const isStep = (value: unknown): value is Step =>
  isObject(value) &&
  isNumber(value.log_probability) &&
  Array.isArray(value.alternatives) &&
  value.alternatives.every(
    (one: unknown) =>
      isObject(one) && typeof one.text === "string" && isNumber(one.log_probability),
  );

function isTrace(value: unknown): value is Trace {
  if (!isObject(value)) return false;
  const { source, target, sites, steps, provenance, aligning, does = "translate" } = value;
  return (
    isSentence(source) &&
    isSentence(target) &&
    source.tokens.length > 0 &&
    (does === "translate" || does === "write" || does === "fill") &&
    (does === "fill" || target.tokens.length > 0) &&
    Array.isArray(sites) &&
    sites.every((site: unknown) => isSite(site, source.tokens.length, target.tokens.length)) &&
    Array.isArray(steps) &&
    steps.length === target.tokens.length &&
    steps.every(isStep) &&
    isObject(provenance) &&
    typeof provenance.model === "string" &&
    (aligning === null || isNumber(aligning))
  );
}

/** A trace from what JSON gave, or an error that says why not. */
export function checkedTrace(value: unknown): Trace {
  if (isObject(value) && isNumber(value.format) && value.format > FORMAT) throw new TooNew();
  if (!isTrace(value)) throw new NotATrace();
  return value;
}

export function traceFromText(text: string): Trace {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new NotATrace();
  }
  return checkedTrace(value);
}

export const logProbability = (trace: Trace): number =>
  trace.steps.slice(nGiven(trace)).reduce((sum, step) => sum + step.log_probability, 0);
