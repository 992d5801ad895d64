// Which trace is shown: of a served model, of a file, or the recorded one.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Address, View } from "./address";
import { type Model, canned, traceOf, translated } from "./api";
import { chosenExample, modelOf, unknownOf } from "./fitting";
import type { Shown } from "./stage";
import { TooNew, type Trace, doesOf } from "./trace";
import { traceFromBytes } from "./trace_file";
import type { Say } from "./words";

interface Showing {
  shown: Shown | null;
  partial: string | null;
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
  const [trouble, setTrouble] = useState<string | null>(null);
  const { text, target, view } = address;
  const known = modelOf(models ?? [], address.model) ?? models?.[0];
  const example = chosenExample(address, known);
  // the first that translates, which need not be the first of all
  const model = address.model ?? known?.name ?? null;
  const isServed = models !== null && models.length > 0 && text !== null;
  const isKnown = models !== null || text === null;
  const isHere = OF_A_TRANSLATION.includes(view);
  const done = useRef(""); // what was found last: whoever comes back from elsewhere finds it again

  useEffect(() => {
    if (!isHere || !isKnown || isServed) return;
    setTrouble(null); // whatever was refused is not asked for any more
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
      .catch((error: unknown) => setTrouble(String(error)));
    return () => {
      isWanted = false;
    };
  }, [isHere, isKnown, isServed, example]);

  useEffect(() => {
    const asked = JSON.stringify([text, target, model]);
    if (!isHere || !isServed || text === null) return;
    setTrouble(null);
    if (done.current === asked) return;
    const breaking = new AbortController();
    const { signal } = breaking;
    const find = async (): Promise<void> => {
      setOpened(null);
      setPartial("");
      const hypotheses = await translated(text, model, setPartial, signal);
      const sight = { model, source: text, target };
      const trace = await traceOf(sight, signal);
      done.current = asked;
      setShown({ trace, hypotheses, canned: null, sight, file: null });
      setPartial(null);
    };
    find().catch((error: unknown) => {
      if (isBreak(error)) return;
      setPartial(null);
      setTrouble(error instanceof Error ? error.message : String(error));
    });
    return () => {
      breaking.abort();
      setPartial(null);
    };
  }, [isHere, isServed, text, target, model]);

  const open = useCallback(
    (file: File): void => {
      const read = async (): Promise<void> => {
        const trace = await readTrace(file, say);
        go({ ...FREE, view: viewOf(trace, view) });
        setTrouble(null);
        setOpened({ trace, hypotheses: [], canned: null, sight: null, file: file.name });
      };
      read().catch((error: unknown) => setTrouble(String((error as Error).message)));
    },
    [go, say, view],
  );
  const close = useCallback((): void => setOpened(null), []);
  // With a text the service is asked, and refuses in its own words.
  const refused = isHere && text === null ? unknownOf(models, [address.model], say) : null;
  return { shown: opened ?? shown, partial, trouble: trouble ?? refused, open, close };
}
