// The two traces that are compared: each of a served model, of a file, or recorded.
import { useCallback, useEffect, useState } from "preact/hooks";
import type { Address, Pair } from "./address";
import { type Model, type Sight, canned, traceOf } from "./api";
import { chosenPair, modelOf, unknownOf } from "./fitting";
import { savedPage } from "./inlined";
import { isBreak, readTrace } from "./showing";
import type { Shown } from "./stage";
import type { Trace } from "./trace";
import { asError, sayError } from "./trouble";
import type { Say } from "./words";

export interface Half {
  trace: Trace;
  /** only of a served model */
  sight: Sight | null;
  /** only of a file */
  file: string | null;
  /** only of a saved page */
  name?: string;
}

/** What a side is called: its file, or the model as it is served or was recorded. */
export const nameOf = ({ file, sight, trace, name }: Half, models: readonly Model[]): string =>
  file ?? name ?? (sight && (sight.model ?? models[0]?.name)) ?? trace.provenance.model;

export const isRecorded = ({ file, sight }: Half): boolean => file === null && sight === null;

/** 0 is the left side, 1 the right. */
export type Place = 0 | 1;

export interface Comparing {
  halves: readonly [Half | null, Half | null];
  isBusy: boolean;
  /** a model is served, and nobody has asked it anything yet */
  isIdle: boolean;
  trouble: string | null;
  open: (file: File, place: Place) => void;
  /** give the files away again */
  close: () => void;
}

type Wish = { sight: Sight } | { recorded: string };

const RECORDED: Record<Pair, readonly [string, string]> = {
  "zh-wide": ["zh-en", "zh-en-wide"],
  "fr-wide": ["en-fr", "en-fr-wide"],
  "fr-models": ["en-fr", "en-fr-bahdanau"],
};

/** As many tokens a GPT writes: enough to see how sure it is, few enough to lie beside a sentence. */
const WRITTEN = 12;

/** What each side is to show, unless a file lies there. */
export function wishes(
  address: Address,
  models: readonly Model[],
): readonly [Wish | null, Wish | null] {
  const { text, target, model, otherText, otherTarget, otherModel } = address;
  if (text === null && models.length > 0 && address.pair === null) return [null, null];
  if (models.length === 0 || text === null) {
    const [left, right] = RECORDED[chosenPair(address, modelOf(models, model) ?? models[0])];
    return [{ recorded: left }, { recorded: right }];
  }
  if ([model, otherModel].some((name) => modelOf(models, name) === undefined)) return [null, null];
  const sight = (name: string | null, source: string, target: string | null): Wish => {
    const isWriter = modelOf(models, name)?.does === "write";
    return { sight: { model: name, source, target, ...(isWriter ? { most: WRITTEN } : {}) } };
  };
  return [sight(model, text, target), sight(otherModel ?? model, otherText ?? text, otherTarget)];
}

async function found(wish: Wish, signal: AbortSignal): Promise<Half> {
  if ("sight" in wish) {
    return { trace: await traceOf(wish.sight, signal), sight: wish.sight, file: null };
  }
  return { trace: (await canned(wish.recorded)).trace, sight: null, file: null };
}

interface Found {
  half: Half | null;
  isBusy: boolean;
  trouble: Error | null;
}

const NOTHING: Found = { half: null, isBusy: false, trouble: null };

function useHalf(wish: Wish | null, times: number): Found {
  const [state, set] = useState<Found & { key: string }>({ ...NOTHING, key: "" });
  const key = JSON.stringify(wish && "sight" in wish ? [wish, times] : wish);
  useEffect(() => {
    if (wish === null) return;
    const breaking = new AbortController();
    set({ ...NOTHING, isBusy: true, key });
    found(wish, breaking.signal)
      .then((half) => {
        if (!breaking.signal.aborted) set({ ...NOTHING, half, key });
      })
      .catch((error: unknown) => {
        if (isBreak(error) || breaking.signal.aborted) return;
        set({ ...NOTHING, trouble: asError(error), key });
      });
    return () => breaking.abort();
  }, [key]);
  // What was found for another question is not shown for this one.
  return state.key === key ? state : NOTHING;
}

export function useComparing(
  address: Address,
  models: readonly Model[] | null,
  opened: Shown | null,
  say: Say,
): Comparing {
  const [files, setFiles] = useState<readonly [Half | null, Half | null]>([null, null]);
  const [unread, setUnread] = useState<Error | null>(null);
  const saved = savedPage();
  const isWanted = address.view === "compare" && models !== null && saved === null;
  const [left, right] = isWanted ? wishes(address, models) : [null, null];
  const halves = [useHalf(left, address.times), useHalf(right, address.times)] as const;
  const open = useCallback(
    (file: File, place: Place): void => {
      readTrace(file, say)
        .then((trace) => {
          const half = { trace, sight: null, file: file.name };
          setUnread(null);
          setFiles(([one, other]) => (place === 0 ? [half, other] : [one, half]));
        })
        .catch((error: unknown) => setUnread(asError(error)));
    },
    [say],
  );
  const close = useCallback((): void => {
    setUnread(null);
    setFiles([null, null]);
  }, []);
  const unknown = unknownOf(models, [address.model, address.otherModel], say);
  const isOpened = opened !== null && opened.file !== null;
  // Where a side has no wish, what it showed before answers another question.
  const within = ([0, 1] as const).map((place): Half | null => {
    const held = saved?.traces[place];
    if (held === undefined) return null;
    return { trace: held.trace, name: held.name, sight: null, file: null };
  });
  const one = within[0] ?? (left && halves[0].half);
  const other = within[1] ?? (right && halves[1].half);
  const error = unread ?? (unknown === null ? (halves[0].trouble ?? halves[1].trouble) : null);
  return {
    halves: [files[0] ?? (isOpened ? opened : one), files[1] ?? other],
    isBusy: halves.some((half) => half.isBusy),
    isIdle: isWanted && left === null && right === null && address.text === null,
    trouble: error === null ? unknown : sayError(say, error),
    open,
    close,
  };
}
