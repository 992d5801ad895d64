// A trace as Regard writes it, and the checks that let a stranger's file be shown.
import {
  SCHEMAS,
  type Sentence,
  type SiteDocument,
  type SiteHeader,
  type Token,
  type TraceDocument,
  type TraceHeader,
} from "./contract";
import { isObject, isOf } from "./validation";

export type { Sentence, Token };

export const KINDS = SCHEMAS.SiteHeader.properties.kind.enum;
export type Kind = SiteHeader["kind"];

/** What the two sentences of a trace are.
 *
 * Whoever translates reads the source and writes the target; whoever writes goes on from the
 * source, and the target is the whole text; whoever fills reads the source, and the target holds
 * a token for each of its gaps. */
export type Does = NonNullable<TraceHeader["does"]>;

export type Site = SiteDocument;
export type Trace = TraceDocument;

const FORMAT = SCHEMAS.TraceHeader.properties.format.maximum;
const BOS: Token = { id: 2, text: "<s>", start: 0, end: 0, word: null };
const SPECIAL = new Set([0, 2, 3]); // PAD, BOS, EOS
const UNKNOWN = 1;
export const CELL = -1; // the id of a cell of a picture, which is none of any vocabulary
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

/** Whether every token is part of a word that there is. */
const isWhole = ({ words, tokens, first }: Sentence): boolean =>
  [...tokens, ...(first ? [first] : [])].every(
    ({ word }) => word == null || (word >= 0 && word < words.length),
  );

const isMatrix = (rows: readonly (readonly number[])[], nRows: number, nColumns: number): boolean =>
  rows.length === nRows && rows.every((row) => row.length === nColumns);

function isFitting({ kind, weights, is_uniform }: Site, nSource: number, nTarget: number): boolean {
  const nRows = kind === "encoder" ? nSource : nTarget;
  const nColumns = kind === "decoder" ? nTarget : nSource;
  return (
    weights.length > 0 &&
    weights.length === is_uniform.length &&
    weights.every((head) => isMatrix(head, nRows, nColumns))
  );
}

/** Whether the target has the tokens that follow from what the model does. */
function isAnswer(trace: Trace, nSource: number, nTarget: number): boolean {
  switch (doesOf(trace)) {
    case "translate":
      return nTarget > 0;
    case "write":
      return nTarget >= nSource;
    case "fill":
      return nTarget === trace.source.tokens.filter((token) => token.text === MASK).length;
  }
}

/** Whether there is no path, or a gaze with its place for every step. */
const isPath = (gazes: readonly (readonly number[])[], nSteps: number): boolean =>
  gazes.length === 0 || (gazes.length === nSteps && gazes.every((gaze) => gaze.length >= 2));

/** What holds between the parts of a trace, which no schema says. */
function holdsTogether(trace: Trace): boolean {
  const { source, target, sites, steps, picture } = trace;
  const [nSource, nTarget] = [source.tokens.length, target.tokens.length];
  return (
    nSource > 0 &&
    isWhole(source) &&
    isWhole(target) &&
    isAnswer(trace, nSource, nTarget) &&
    steps.length === nTarget &&
    sites.every((site) => isFitting(site, nSource, nTarget)) &&
    (!picture ||
      (picture.grid[0] * picture.grid[1] === nSource &&
        picture.boxes.length === nSource &&
        isPath(picture.gazes ?? [], nTarget)))
  );
}

/** What a file or a document says of itself, if it is of this kind. */
function said(kind: keyof typeof SCHEMAS, value: unknown): unknown {
  const format = isObject(value) ? value.format : null;
  if (typeof format === "number" && format > FORMAT) throw new TooNew();
  if (!isOf(kind, value, SCHEMAS)) throw new NotATrace();
  return value;
}

export const checkedHeader = (value: unknown): TraceHeader =>
  said("TraceHeader", value) as TraceHeader;

/** A trace whose every part is of its kind, if the parts fit together. */
export function together(trace: Trace): Trace {
  if (!holdsTogether(trace)) throw new NotATrace();
  return trace;
}

/** A trace from what JSON gave, or an error that says why not. */
export const checkedTrace = (value: unknown): Trace =>
  together(said("TraceDocument", value) as Trace);

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
