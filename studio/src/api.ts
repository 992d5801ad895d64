// The service's own API, under /api/v1 beside the page; where it is not there, canned sentences.
import {
  type AblateAnswer,
  type CellAnswer,
  type CellQuestion,
  type FillAnswer,
  type GenerateQuestion,
  type GeneratedEvent,
  type InfoAnswer,
  type ModelAnswer,
  type Problem,
  type RankedText,
  type RecordedSentence,
  type RecordedVectors,
  type Routes,
  SCHEMAS,
  type SightQuestion,
  type TokenEvent,
} from "./contract";
import { vectorsFromBytes } from "./inlined";
import { fetched } from "./key";
import { type Kind, type Trace, checkedTrace } from "./trace";
import { traceFromBytes } from "./trace_file";

/** A served model that there are pictures of. */
export type Model = ModelAnswer;

/** Whether a model is asked in the view that looks at one answer: it translates, or is about pictures. */
export const isLookedAt = (model: Model): boolean =>
  model.does === "translate" || isPictured(model);

/** Whether it reads pictures or draws them. */
export const isPictured = (model: Model | undefined): boolean =>
  model?.reads === "pictures" || model?.reads === "seeds";

export interface Sight {
  model: string | null;
  source: string;
  target: string | null;
  /** heads that are switched off while the tokens that it writes with all of them are read */
  off?: readonly string[];
  /** how many tokens a language model writes on; else one */
  most?: number;
}

export type Cell = Required<
  Pick<CellQuestion, "layer" | "head" | "row" | "column"> & { site: Kind }
>;

type Post = Extract<keyof Routes, `POST /api/v1/${string}`>;
type Path<Route> = Route extends `${string} /api/v1/${infer Rest}` ? Rest : never;
type Asking<To extends Path<Post>> = Routes[`POST /api/v1/${To}`]["question"];

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

async function fetchedAnswer(
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<Response> {
  const answer = await fetched(`${BASE}/${path}`, {
    method: body === undefined ? "GET" : "POST",
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }),
    ...(signal === undefined ? {} : { signal }),
  }).catch(orUnreachable);
  if (answer.ok) return answer;
  const said = (await answer.json().catch(() => null)) as Partial<Problem> | null;
  const sentence = said?.error ?? `${answer.status} ${answer.statusText}`;
  throw new Refused(String(sentence), said?.code);
}

/** What is at an address. */
export async function got<From extends Path<Extract<keyof Routes, `GET /api/v1/${string}`>>>(
  path: From,
  query?: Record<string, string>,
): Promise<Routes[`GET /api/v1/${From}`]["answer"]> {
  const said = query === undefined ? "" : `?${new URLSearchParams(query).toString()}`;
  return (await fetchedAnswer(`${path}${said}`)).json() as never;
}

/** What is answered to a question, before it is read: a file, or a stream. */
export const asked = <To extends Path<Post>>(
  path: To,
  question: Asking<To>,
  signal?: AbortSignal,
): Promise<Response> => fetchedAnswer(path, question, signal);

type Told = { [Route in Post]: Routes[Route] extends { answer: object } ? Route : never }[Post];

/** What is answered to a question. */
export async function answered<To extends Path<Told>>(
  path: To,
  question: Asking<To>,
  signal?: AbortSignal,
): Promise<Routes[`POST /api/v1/${To}`]["answer"]> {
  return (await fetchedAnswer(path, question, signal)).json() as never;
}

const SHOWN: readonly string[] = SCHEMAS.TraceHeader.properties.does.enum;

const isShown = (model: Model): boolean => SHOWN.includes(model.does) || isPictured(model);

/** The served models that there are pictures of; none if no service answers. */
export async function servedModels(): Promise<Model[]> {
  try {
    const answer = await fetched(`${BASE}/info`);
    if (!answer.ok || !(answer.headers.get("content-type") ?? "").includes("json")) return [];
    const info = (await answer.json()) as Partial<InfoAnswer>;
    return (info.models ?? []).filter(isShown);
  } catch {
    return [];
  }
}

export async function canned(name: string): Promise<RecordedSentence> {
  const answer = await fetch(`canned.${name}.json`).catch(orUnreachable);
  if (!answer.ok) throw new Refused(`canned.${name}.json: ${answer.status}`);
  const found = (await answer.json()) as RecordedSentence;
  checkedTrace(found.trace);
  return found;
}

/** A recorded text of a language model. */
export async function cannedStory(name: string): Promise<Trace> {
  const answer = await fetch(`canned.${name}.trace`).catch(orUnreachable);
  if (!answer.ok) throw new Refused(`canned.${name}.trace: ${answer.status}`);
  return traceFromBytes(await answer.arrayBuffer());
}

const sightBody = (sight: Sight): SightQuestion => ({
  source: sight.source,
  ...(sight.model === null ? {} : { model: sight.model }),
  ...(sight.target === null ? {} : { target: sight.target }),
  ...(sight.most === undefined ? {} : { new: sight.most }),
});

export async function traceOf(sight: Sight, signal?: AbortSignal): Promise<Trace> {
  const heads = sight.off === undefined ? {} : { heads: sight.off };
  const question = { ...sightBody(sight), ...heads, format: "safetensors" } as const;
  const answer = await asked("trace", question, signal);
  return traceFromBytes(await answer.arrayBuffer());
}

/** Translate; each output is told while it is decoded, and all are given at the end. */
export async function translated(
  text: string,
  model: string | null,
  tell: (partial: string) => void,
  signal?: AbortSignal,
): Promise<readonly RankedText[]> {
  const answer = await asked("translate/stream", { text, model, n_best: 5, beam: 5 }, signal);
  let found: readonly RankedText[] = [];
  for await (const event of events<"translate/stream">(answer)) {
    if (event.event === "partial") tell(event.text);
    if (event.event === "sentence") found = event.hypotheses;
    if (event.event === "error") throw new Refused(event.error, event.code);
  }
  return found;
}

/** How a story is to be written. */
export type Wish = Required<GenerateQuestion>;

/** Write on from a prompt; each token is told as it comes, and at the end why there are no more. */
export async function told(
  wish: Wish,
  tell: (token: TokenEvent) => void,
  signal?: AbortSignal,
): Promise<GeneratedEvent["reason"]> {
  let reason: GeneratedEvent["reason"] = "stop";
  const answer = await asked("generate", wish, signal);
  for await (const event of events<"generate">(answer)) {
    if (event.event === "token") tell(event);
    if (event.event === "done") reason = event.reason;
    if (event.event === "error") throw new Refused(event.error, event.code);
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
  const answer = await asked("generate/trace", { model, prompt, tokens }, signal);
  return traceFromBytes(await answer.arrayBuffer());
}

/** For each gap of a text the words that fit best. */
export async function filled(
  text: string,
  model: string | null,
  k: number,
  signal?: AbortSignal,
): Promise<FillAnswer["gaps"]> {
  return (await answered("fill", { text, k, model }, signal)).gaps;
}

/** A stream's events as they come, a line each. */
async function* events<To extends Path<Told>>(
  answer: Response,
): AsyncGenerator<Routes[`POST /api/v1/${To}`]["answer"]> {
  for await (const line of lines(answer)) yield JSON.parse(line) as never;
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

export async function arithmeticOf(
  sight: Sight,
  cell: Cell,
  signal?: AbortSignal,
): Promise<CellAnswer> {
  return answered("arithmetic", { ...sightBody(sight), ...cell }, signal);
}

export async function ablationOf(
  sight: Sight,
  heads: readonly string[],
  signal?: AbortSignal,
): Promise<AblateAnswer> {
  return answered("ablate", { ...sightBody(sight), heads, change: "off" }, signal);
}

/** Queries, keys and values of every head; a model without such has none. */
export async function vectorsOf(sight: Sight): Promise<RecordedVectors[]> {
  return vectorsFromBytes(await (await asked("vectors", sightBody(sight))).arrayBuffer());
}
