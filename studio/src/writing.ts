// A text of a language model, as it is written, and then with every attention behind it.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Address, Story } from "./address";
import { type Model, cannedStory, filled, storyTrace, told, traceOf } from "./api";
import type { FillAnswer, TokenEvent } from "./contract";
import { savedPage } from "./inlined";
import { isBreak } from "./showing";
import type { Trace } from "./trace";
import { asError } from "./trouble";

export interface Writing {
  trace: Trace | null;
  /** what was written so far, while it is being written */
  pieces: readonly TokenEvent[] | null;
  /** more words for each gap than the trace has */
  fits: FillAnswer["gaps"] | null;
  isRecorded: boolean;
  /** as the model is served that wrote the trace */
  name: string | null;
  isBusy: boolean;
  /** a model is served, and nobody has asked it anything yet */
  isIdle: boolean;
  /** it ends where it was full: so many tokens of those that were asked for */
  full: { n: number; most: number } | null;
  trouble: Error | null;
  stop: () => void;
}

/** Those that write or fill gaps. */
export const writersOf = (models: readonly Model[]): Model[] =>
  models.filter((model) => model.does !== "translate");

/** The model that is asked: the one at the address, or the first that writes or fills gaps. */
export function chosenWriter(address: Address, models: readonly Model[]): Model | null {
  const able = writersOf(models);
  return able.find((model) => model.name === address.writer) ?? able[0] ?? null;
}

export const chosenStory = (address: Address): Story =>
  address.story ?? (address.language === "zh" ? "story-zh" : "story-en");

/** What was found, and for which question. */
type Found = Omit<Writing, "stop" | "isIdle"> & { key: string };

const NOTHING = { pieces: null, fits: null, isBusy: false, full: null, trouble: null } as const;

const BLANK = { ...NOTHING, trace: null, isRecorded: true, name: null } as const;

export function useWriting(address: Address, models: readonly Model[] | null): Writing {
  const [state, set] = useState<Found>({ ...BLANK, key: "" });
  const stopping = useRef<AbortController | null>(null);
  const model = chosenWriter(address, models ?? []);
  const isServed = model !== null && address.prompt !== null;
  // Another model's text would be taken for that of the one at the address.
  const isUnknown = isServed && address.writer !== null && address.writer !== model.name;
  const isIdle = model !== null && address.prompt === null && address.story === null;
  const isAsked = address.view === "generate" && models !== null && savedPage() === null;
  const isWanted = isAsked && !isUnknown && !isIdle;
  const { prompt, temperature, topK, topP, seed, most, found } = address;
  const wanted = isServed
    ? model.does === "write"
      ? [model.name, prompt, temperature, topK, topP, seed, most, address.times]
      : [model.name, prompt, found, address.times]
    : [chosenStory(address)];
  const key = JSON.stringify(isWanted ? wanted : null);
  useEffect(() => {
    if (!isWanted) return;
    const breaking = new AbortController();
    const { signal } = breaking;
    const change = (more: Partial<Found>): void => {
      if (!signal.aborted) set((before) => ({ ...before, ...more, key }));
    };
    const record = async (): Promise<void> => {
      const trace = await cannedStory(chosenStory(address));
      change({ ...NOTHING, trace, isRecorded: true, name: null });
    };
    const write = async (name: string, text: string): Promise<void> => {
      const ending = new AbortController();
      stopping.current = ending;
      signal.addEventListener("abort", () => ending.abort());
      const sampling = { temperature, top_k: topK, top_p: topP, seed };
      const wish = { model: name, prompt: text, max_tokens: most, ...sampling };
      let pieces: TokenEvent[] = [];
      change({ ...NOTHING, pieces, isBusy: true });
      const tell = (piece: TokenEvent): void => change({ pieces: (pieces = [...pieces, piece]) });
      // Who stops the writing keeps what is there.
      const reason = await told(wish, tell, ending.signal).catch((error: unknown) => {
        if (!isBreak(error) || signal.aborted) throw error;
        return "stop";
      });
      const tokens = pieces.map((piece) => piece.id);
      if (tokens.length === 0) change({ ...NOTHING, trace: null, isRecorded: false });
      else {
        const trace = await storyTrace(wish, tokens, signal);
        const n = tokens.length;
        const full = reason === "length" && n < most ? { n, most } : null;
        change({ ...NOTHING, trace, isRecorded: false, name, full });
      }
    };
    const fill = async (name: string, text: string): Promise<void> => {
      change({ ...BLANK, isRecorded: false, isBusy: true });
      const trace = await traceOf({ model: name, source: text, target: null }, signal);
      const fits = trace.steps.length > 0 ? await filled(text, name, found, signal) : [];
      change({ ...NOTHING, trace, fits, isRecorded: false, name });
    };
    const run = !isServed
      ? record()
      : (model.does === "write" ? write : fill)(model.name, prompt ?? "");
    run.catch((error: unknown) => {
      if (!isBreak(error)) change({ ...NOTHING, trace: null, trouble: asError(error) });
    });
    return () => breaking.abort();
  }, [key]);
  const stop = useCallback((): void => stopping.current?.abort(), []);
  // What was found for another question is not shown for this one.
  const current = state.key === key ? state : { ...BLANK, isBusy: isWanted };
  return { ...current, isRecorded: current.isRecorded && !isServed && !isIdle, isIdle, stop };
}
