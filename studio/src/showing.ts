// Which trace is shown: of a served model, of a file, or the recorded one.
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Address, VIEWS, type View } from "./address";
import { type Model, canned, traceOf, translated } from "./api";
import { chosenExample, modelOf, sentenceOf, unknownOf } from "./fitting";
import { unitOf } from "./figures/pictured";
import { savedPage } from "./inlined";
import type { Pending, Shown } from "./stage";
import { TooNew, type Trace, doesOf } from "./trace";
import { pictureText } from "./sending";
import { traceFromBytes } from "./trace_file";
import { asError, sayError } from "./trouble";
import type { Say } from "./words";

interface Showing {
  /** what was found last; while another is pending, it answers an older question */
  shown: Shown | null;
  pending: Pending | null;
  /** a model is served, and nobody has asked it anything yet */
  isIdle: boolean;
  /** a translation that cannot be looked into, because it is too long for that */
  written: string | null;
  trouble: string | null;
  open: (file: File) => void;
  close: () => void;
}

const FREE = { row: null, column: null, layer: null, head: null, off: [] } as const;

/** Views that are about one translation; the others look after what they show. */
const OF_A_TRANSLATION: readonly View[] = ["look", "arithmetic", "switchboard"];

/** What a saved page holds: the views that its data can serve. */
export function savedViews(): readonly View[] | null {
  const page = savedPage();
  if (page === null) return null;
  const [first, second] = page.traces;
  const isOne = first !== undefined && doesOf(first.trace) === "translate";
  const can: Partial<Record<View, boolean>> = {
    report: page.report !== null,
    lesson: page.lesson !== null,
    look: isOne,
    arithmetic: isOne && first.sites.length > 0,
    switchboard: isOne && Object.keys(first.ablations).length > 0,
    generate: first !== undefined && !isOne,
    compare: second !== undefined,
    training: page.training !== null,
    blocks: page.blocks !== null,
  };
  return VIEWS.filter((view) => can[view] === true);
}

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

const reads = (model: Model | undefined): boolean => model?.reads === "pictures";

/** The form in which a picture is seen first. */
const pictureForm = (trace: Trace): Partial<Address> =>
  trace.picture ? { form: unitOf(trace) === "glimpse" ? "gazes" : "pictures" } : {};

export function useShown(
  address: Address,
  models: readonly Model[] | null,
  go: (change: Partial<Address>) => void,
  say: Say,
): Showing {
  const [found, setFound] = useState<{ asked: string; shown: Shown } | null>(null);
  const [opened, setOpened] = useState<Shown | null>(null);
  const [partial, setPartial] = useState<{ asked: string; text: string } | null>(null);
  const [refusal, setRefusal] = useState<{ asked: string; error: Error } | null>(null);
  const [written, setWritten] = useState<string | null>(null);
  const [unread, setUnread] = useState<Error | null>(null);
  const { text, target, view } = address;
  const known = modelOf(models ?? [], address.model) ?? models?.[0];
  const example = chosenExample(address, known);
  // the first that translates, which need not be the first of all
  const model = address.model ?? known?.name ?? null;
  const isServed = models !== null && models.length > 0;
  // A model in whose language there is no example waits for a sentence.
  const isIdle = isServed && text === null && address.example === null;
  const isHere = OF_A_TRANSLATION.includes(view);
  const saved = savedPage();
  const inside = useMemo((): Shown | null => {
    const held = saved?.traces[0];
    if (held === undefined) return null;
    const { trace, hypotheses } = held;
    return { trace, hypotheses, canned: held, sight: null, file: null };
  }, [saved]);
  const isWanted = isHere && models !== null && !isIdle && saved === null;
  const asksModel = isServed && text !== null;
  const asked = asksModel ? JSON.stringify([text, target, model]) : isIdle ? "" : example;
  const done = useRef(""); // what was found last: whoever comes back from elsewhere finds it again
  const refuse = (thrown: unknown): void => {
    // What was found before answers another question.
    done.current = "";
    setFound(null);
    setPartial(null);
    setRefusal({ asked, error: asError(thrown) });
  };
  const place = JSON.stringify([view, asked, address.prompt, address.story]);
  useEffect(() => setUnread(null), [place]);

  useEffect(() => {
    if (!isWanted || asksModel) return;
    setRefusal(null);
    if (done.current === asked) return;
    let isAwaited = true;
    setOpened(null);
    canned(example)
      .then((it) => {
        if (!isAwaited) return;
        done.current = asked;
        const { trace, hypotheses } = it;
        setFound({ asked, shown: { trace, hypotheses, canned: it, sight: null, file: null } });
      })
      .catch((error: unknown) => {
        if (isAwaited) refuse(error);
      });
    return () => {
      isAwaited = false;
    };
  }, [isWanted, asksModel, asked]);

  useEffect(() => {
    if (!isWanted || !asksModel || text === null) return;
    setRefusal(null);
    if (done.current === asked) return;
    const breaking = new AbortController();
    const { signal } = breaking;
    const find = async (): Promise<void> => {
      setOpened(null);
      setWritten(null);
      const tell = (text: string): void => setPartial({ asked, text });
      tell("");
      const isDrawn = known?.reads === "seeds";
      const hypotheses = isDrawn ? [] : await translated(text, model, tell, signal);
      const sight = { model, source: text, target };
      const trace = await traceOf(sight, signal).catch((error: unknown) => {
        if (!isBreak(error)) setWritten(hypotheses[0]?.text ?? null);
        throw error;
      });
      done.current = asked;
      setFound({ asked, shown: { trace, hypotheses, canned: null, sight, file: null } });
      if (trace.picture) go({ row: null, ...pictureForm(trace) });
      setPartial(null);
    };
    find().catch((error: unknown) => {
      if (!isBreak(error)) refuse(error);
    });
    return () => {
      breaking.abort();
      setPartial(null);
    };
  }, [isWanted, asksModel, asked, address.times]);

  const open = useCallback(
    (file: File): void => {
      const read = async (): Promise<void> => {
        let sight: Shown["sight"] = null;
        if (file.type.startsWith("image/")) {
          const reader = reads(known) ? known : models?.find(reads);
          if (reader === undefined) throw new Error(say("noReader", { name: file.name }));
          sight = { model: reader.name, source: await pictureText(file), target: null };
          go({ model: reader.name, text: null, example: null, target: null });
        }
        const trace = await (sight === null ? readTrace(file, say) : traceOf(sight));
        go({ ...FREE, view: viewOf(trace, view), ...pictureForm(trace) });
        setUnread(null);
        setOpened({ trace, hypotheses: [], canned: null, sight, file: file.name });
      };
      read().catch((error: unknown) => setUnread(asError(error)));
    },
    [go, say, view, models, known],
  );
  const close = useCallback((): void => setOpened(null), []);
  // With a text the service is asked, and refuses in its own words.
  const unknown = isHere && text === null ? unknownOf(models, [address.model], say) : null;
  const isRefused = isHere && opened === null && refusal?.asked === asked;
  const error = unread ?? (isRefused ? refusal.error : null);
  const isAwaited = isWanted && opened === null && !isRefused && found?.asked !== asked;
  const said = target ?? (partial?.asked === asked ? partial.text : "");
  return {
    shown: opened ?? inside ?? (isHere && isIdle ? null : (found?.shown ?? null)),
    pending: isAwaited
      ? { source: asksModel ? text : sentenceOf(example), output: asksModel ? said : "" }
      : null,
    isIdle: isHere && isIdle && opened === null,
    written: isRefused ? written : null,
    trouble: error === null ? unknown : sayError(say, error),
    open,
    close,
  };
}
