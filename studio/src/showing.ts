// Which trace is shown: of a served model, of a file, or the recorded one.
import { useCallback, useEffect, useState } from "preact/hooks";
import type { Address } from "./address";
import { type Model, canned, traceOf, translated } from "./api";
import type { Shown } from "./stage";
import { TooNew } from "./trace";
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

const isBreak = (error: unknown): boolean =>
  error instanceof DOMException && error.name === "AbortError";

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
  const { text, target, model, example } = address;
  const isServed = models !== null && models.length > 0 && text !== null;
  const isKnown = models !== null || text === null;

  useEffect(() => {
    if (!isKnown || isServed) return;
    let isWanted = true;
    setOpened(null);
    canned(example)
      .then((found) => {
        if (!isWanted) return;
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
  }, [isKnown, isServed, example]);

  useEffect(() => {
    if (!isServed || text === null) return;
    const breaking = new AbortController();
    const { signal } = breaking;
    const find = async (): Promise<void> => {
      setTrouble(null);
      setOpened(null);
      setPartial("");
      const hypotheses = await translated(text, model, setPartial, signal);
      const sight = { model, source: text, target };
      const trace = await traceOf(sight, signal);
      setShown({ trace, hypotheses, canned: null, sight, file: null });
      setPartial(null);
    };
    find().catch((error: unknown) => {
      if (isBreak(error)) return;
      setPartial(null);
      setTrouble(error instanceof Error ? error.message : String(error));
    });
    return () => breaking.abort();
  }, [isServed, text, target, model]);

  const open = useCallback(
    (file: File): void => {
      const read = async (): Promise<void> => {
        const trace = traceFromBytes(await file.arrayBuffer());
        go(FREE);
        setTrouble(null);
        setOpened({ trace, hypotheses: [], canned: null, sight: null, file: file.name });
      };
      read().catch((error: unknown) =>
        setTrouble(say(error instanceof TooNew ? "tooNew" : "notATrace", { name: file.name })),
      );
    },
    [go, say],
  );
  const close = useCallback((): void => setOpened(null), []);
  return { shown: opened ?? shown, partial, trouble, open, close };
}
