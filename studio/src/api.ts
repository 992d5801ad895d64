// The service's own API, under /api/v1 beside the page; where it is not there, canned sentences.
import { fetched } from "./key";
import { type Arithmetic } from "./mathematics/arithmetic";
import { type Does, type Kind, type Trace, checkedTrace } from "./trace";
import { traceFromBytes } from "./trace_file";

export interface Model {
  name: string;
  does: Does;
  source_language: string | null;
  target_language: string | null;
  kind: string | null;
  heads: Record<string, number[]>;
}

export interface Hypothesis {
  text: string;
  score: number;
  log_probability: number;
}

export interface Ablation {
  heads: string[];
  before: string;
  after: string;
  has_changed: boolean;
  tokens: string[];
  changes: number[];
  change: number;
}

export interface Vectors {
  kind: Kind;
  layer: number;
  queries: number[][][];
  keys: number[][][];
  values: number[][][];
}

export interface Canned {
  name: string;
  trace: Trace;
  hypotheses: Hypothesis[];
  sites: Vectors[];
  ablations: Record<string, Ablation>;
}

export interface Sight {
  model: string | null;
  source: string;
  target: string | null;
  /** how many tokens a language model writes on; else one */
  most?: number;
}

export interface Cell {
  site: Kind;
  layer: number;
  head: number;
  row: number;
  column: number;
}

/** What the service says when it refuses, in one sentence, and its code for that. */
export class Refused extends Error {
  constructor(
    sentence: string,
    readonly code: string | null = null,
  ) {
    super(sentence);
  }
}

const BASE = "api/v1";

/** What a browser throws where nobody answers, or no longer, as a refusal. */
export function orUnreachable(thrown: unknown): never {
  if (!(thrown instanceof TypeError)) throw thrown;
  throw new Refused("the service does not answer", "unreachable");
}

export async function asked(path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const answer = await fetched(`${BASE}/${path}`, {
    method: body === undefined ? "GET" : "POST",
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }),
    ...(signal === undefined ? {} : { signal }),
  }).catch(orUnreachable);
  if (answer.ok) return answer;
  const said = (await answer.json().catch(() => null)) as { error?: unknown; code?: string } | null;
  const sentence = said?.error ?? `${answer.status} ${answer.statusText}`;
  throw new Refused(String(sentence), said?.code);
}

const SHOWN: readonly string[] = ["translate", "write", "fill"] satisfies Does[];

/** The served models that there are pictures of; none if no service answers. */
export async function servedModels(): Promise<Model[]> {
  try {
    const answer = await fetched(`${BASE}/info`);
    if (!answer.ok || !(answer.headers.get("content-type") ?? "").includes("json")) return [];
    const info = (await answer.json()) as { models?: Model[] };
    return (info.models ?? []).filter((model) => SHOWN.includes(model.does));
  } catch {
    return [];
  }
}

export async function canned(name: string): Promise<Canned> {
  const answer = await fetch(`canned.${name}.json`).catch(orUnreachable);
  if (!answer.ok) throw new Refused(`canned.${name}.json: ${answer.status}`);
  const found = (await answer.json()) as Canned;
  return { ...found, trace: checkedTrace(found.trace) };
}

/** A recorded text of a language model. */
export async function cannedStory(name: string): Promise<Trace> {
  const answer = await fetch(`canned.${name}.trace`).catch(orUnreachable);
  if (!answer.ok) throw new Refused(`canned.${name}.trace: ${answer.status}`);
  return traceFromBytes(await answer.arrayBuffer());
}

const sightBody = (sight: Sight): Record<string, string | number> => ({
  source: sight.source,
  ...(sight.model === null ? {} : { model: sight.model }),
  ...(sight.target === null ? {} : { target: sight.target }),
  ...(sight.most === undefined ? {} : { new: sight.most }),
});

export async function traceOf(sight: Sight, signal?: AbortSignal): Promise<Trace> {
  const body = { ...sightBody(sight), format: "safetensors", precision: "float32" };
  const answer = await asked("trace", body, signal);
  return traceFromBytes(await answer.arrayBuffer());
}

interface Event {
  event: "partial" | "sentence" | "done" | "error";
  text?: string;
  error?: string;
  code?: string;
  hypotheses?: Hypothesis[];
}

/** Translate; each output is told while it is decoded, and all are given at the end. */
export async function translated(
  text: string,
  model: string | null,
  tell: (partial: string) => void,
  signal?: AbortSignal,
): Promise<Hypothesis[]> {
  const body = { text, n_best: 5, beam: 5, ...(model === null ? {} : { model }) };
  const answer = await asked("translate/stream", body, signal);
  let found: Hypothesis[] = [];
  for await (const line of lines(answer)) {
    const event = JSON.parse(line) as Event;
    if (event.event === "partial") tell(event.text ?? "");
    if (event.event === "sentence") found = event.hypotheses ?? [];
    if (event.event === "error") throw new Refused(event.error ?? "", event.code);
  }
  return found;
}

/** How a story is to be written. */
export interface Wish {
  model: string | null;
  prompt: string;
  max_tokens: number;
  temperature: number;
  top_k: number;
  top_p: number;
  seed: number;
}

/** A token as it was written. */
export interface Piece {
  id: number;
  text: string;
  log_probability: number;
}

/** Write on from a prompt; each token is told as it comes, and at the end why there are no more. */
export async function told(
  wish: Wish,
  tell: (piece: Piece) => void,
  signal?: AbortSignal,
): Promise<"stop" | "length"> {
  let reason: "stop" | "length" = "stop";
  const { model, ...rest } = wish;
  const answer = await asked("generate", { ...rest, ...(model === null ? {} : { model }) }, signal);
  for await (const line of lines(answer)) {
    const event = JSON.parse(line) as Piece & {
      event: string;
      reason?: typeof reason;
      error?: string;
      code?: string;
    };
    if (event.event === "token") tell(event);
    if (event.event === "done") reason = event.reason ?? reason;
    if (event.event === "error") throw new Refused(event.error ?? "", event.code);
  }
  return reason;
}

/** Every attention behind a story, of the very tokens that were written. */
export async function storyTrace(
  wish: Wish,
  tokens: readonly number[],
  signal?: AbortSignal,
): Promise<Trace> {
  const { model, prompt } = wish;
  const body = { prompt, tokens, ...(model === null ? {} : { model }) };
  const answer = await asked("generate/trace", body, signal);
  return traceFromBytes(await answer.arrayBuffer());
}

/** A word that fits into a gap. */
export interface Fit {
  word: string;
  probability: number;
}

/** For each gap of a text the words that fit best. */
export async function filled(
  text: string,
  model: string | null,
  k: number,
  signal?: AbortSignal,
): Promise<Fit[][]> {
  const answer = await asked("fill", { text, k, ...(model === null ? {} : { model }) }, signal);
  return ((await answer.json()) as { gaps: Fit[][] }).gaps;
}

async function* lines(answer: Response): AsyncGenerator<string> {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  while (reader !== undefined) {
    const { done, value } = await reader.read().catch(orUnreachable);
    const parts = (rest + (value ?? "")).split("\n");
    rest = done ? "" : (parts.pop() ?? "");
    yield* parts.filter((part) => part.trim() !== "");
    if (done) return;
  }
}

interface CellAnswer {
  row_token: string;
  column_token: string;
  column_tokens: string[];
  column: number;
  formula: string;
  query: number[];
  key: number[];
  products: number[] | null;
  sum: number | null;
  divisor: number | null;
  score: number;
  scores: number[];
  may_see: boolean[];
  weights: number[];
  values: number[][];
  context: number[];
}

export async function arithmeticOf(
  sight: Sight,
  cell: Cell,
  signal?: AbortSignal,
): Promise<Arithmetic> {
  const answer = await asked("arithmetic", { ...sightBody(sight), ...cell }, signal);
  const said = (await answer.json()) as CellAnswer;
  const { row_token, column_token, column_tokens, may_see, ...numbers } = said;
  return {
    ...numbers,
    rowLabel: row_token,
    columnLabel: column_token,
    labels: column_tokens,
    maySee: may_see,
  };
}

export async function ablationOf(
  sight: Sight,
  heads: readonly string[],
  signal?: AbortSignal,
): Promise<Ablation> {
  const answer = await asked("ablate", { ...sightBody(sight), heads, change: "off" }, signal);
  return (await answer.json()) as Ablation;
}

/** What of a sentence a page shows first. */
export interface Seen {
  form: "matrix" | "lines";
  site: Kind;
  layer: number;
  heads: readonly number[];
  merges: boolean;
  hides_special: boolean;
  reading: "predicting" | "reading";
  theme: "light" | "dark";
}

/** Every picture of the sentence as one page of its own, which opens at what is seen. */
export async function pageOf(sight: Sight, view: Seen): Promise<Blob> {
  const answer = await asked("export", { ...sightBody(sight), format: "html", view });
  return answer.blob();
}
