// Which trace is shown: of a served model, of a file, or the recorded one.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Address, View } from "./address";
import { type Model, canned, traceOf, translated } from "./api";
import { chosenExample, modelOf, unknownOf } from "./fitting";
import type { Shown } from "./stage";
import { TooNew, type Trace, doesOf } from "./trace";
import { traceFromBytes } from "./trace_file";
import { asError, sayError } from "./trouble";
import type { Say } from "./words";

interface Showing {
  shown: Shown | null;
  partial: string | null;
  /** a translation that cannot be looked into, because it is too long for that */
  written: string | null;
  trouble: string | null;
  open: (file: File) => void;
  close: () => void;
}

const FREE = { row: null, column: null, layer: null, head: null, off: [] } as const;

/** Views that are about one translation; the others look after what they show. */
const OF_A_TRANSLATION: readonly View[] = ["look", "arithmetic", "switchboard"];

export const isBreak = (error: unknown): boolean =>
  error instanceof DOMException && error.name === "AbortError";

/** The trace in a file, or an error that says what is wrong with it. */
export async function readTrace(file: File, say: Say): Promise<Trace> {
  const bytes = await file.arrayBuffer();
  try {
    return traceFromBytes(bytes);
  } catch (error) {
    throw new Error(say(error instanceof TooNew ? "tooNew" : "notATrace", { name: file.name }));
  }
}

/** Where a trace is looked at: here, if it can be. */
function viewOf(trace: Trace, here: View): View {
  if (doesOf(trace) !== "translate") return "generate";
  return OF_A_TRANSLATION.includes(here) ? here : "look";
}

export function useShown(
  address: Address,
  models: readonly Model[] | null,
  go: (change: Partial<Address>) => void,
  say: Say,
): Showing {
  const [shown, setShown] = useState<Shown | null>(null);
  const [opened, setOpened] = useState<Shown | null>(null);
  const [partial, setPartial] = useState<string | null>(null);
  const [refusal, setRefusal] = useState<{ asked: string; error: Error } | null>(null);
  const [written, setWritten] = useState<string | null>(null);
  const [unread, setUnread] = useState<Error | null>(null);
  const { text, target, view } = address;
  const known = modelOf(models ?? [], address.model) ?? models?.[0];
  const example = chosenExample(address, known);
  // the first that translates, which need not be the first of all
  const model = address.model ?? known?.name ?? null;
  const isServed = models !== null && models.length > 0 && text !== null;
  const isKnown = models !== null || text === null;
  const isHere = OF_A_TRANSLATION.includes(view);
  const done = useRef(""); // what was found last: whoever comes back from elsewhere finds it again
  const asked = isServed ? JSON.stringify([text, target, model]) : example;
  const refuse = (thrown: unknown): void => {
    // What was found before answers another question.
    done.current = "";
    setShown(null);
    setPartial(null);
    setRefusal({ asked, error: asError(thrown) });
  };
  const place = JSON.stringify([view, asked, address.prompt, address.story]);
  useEffect(() => setUnread(null), [place]);

  useEffect(() => {
    if (!isHere || !isKnown || isServed) return;
    setRefusal(null);
    if (done.current === example) return;
    let isWanted = true;
    setOpened(null);
    canned(example)
      .then((found) => {
        if (!isWanted) return;
        done.current = example;
        setShown({
          trace: found.trace,
          hypotheses: found.hypotheses,
          canned: found,
          sight: null,
          file: null,
        });
      })
      .catch((error: unknown) => {
        if (isWanted) refuse(error);
      });
    return () => {
      isWanted = false;
    };
  }, [isHere, isKnown, isServed, example]);

  useEffect(() => {
    if (!isHere || !isServed || text === null) return;
    setRefusal(null);
    if (done.current === asked) return;
    const breaking = new AbortController();
    const { signal } = breaking;
    const find = async (): Promise<void> => {
      setOpened(null);
      setWritten(null);
      setPartial("");
      const hypotheses = await translated(text, model, setPartial, signal);
      const sight = { model, source: text, target };
      const trace = await traceOf(sight, signal).catch((error: unknown) => {
        if (!isBreak(error)) setWritten(hypotheses[0]?.text ?? null);
        throw error;
      });
      done.current = asked;
      setShown({ trace, hypotheses, canned: null, sight, file: null });
      setPartial(null);
    };
    find().catch((error: unknown) => {
      if (!isBreak(error)) refuse(error);
    });
    return () => {
      breaking.abort();
      setPartial(null);
    };
  }, [isHere, isServed, text, target, model, address.times]);

  const open = useCallback(
    (file: File): void => {
      const read = async (): Promise<void> => {
        const trace = await readTrace(file, say);
        go({ ...FREE, view: viewOf(trace, view) });
        setUnread(null);
        setOpened({ trace, hypotheses: [], canned: null, sight: null, file: file.name });
      };
      read().catch((error: unknown) => setUnread(asError(error)));
    },
    [go, say, view],
  );
  const close = useCallback((): void => setOpened(null), []);
  // With a text the service is asked, and refuses in its own words.
  const unknown = isHere && text === null ? unknownOf(models, [address.model], say) : null;
  const isRefused = isHere && opened === null && refusal?.asked === asked;
  const error = unread ?? (isRefused ? refusal.error : null);
  const trouble = error === null ? unknown : sayError(say, error);
  return {
    shown: opened ?? shown,
    partial,
    written: isRefused ? written : null,
    trouble,
    open,
    close,
  };
}
