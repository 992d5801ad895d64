// Training runs: what the service tells of them, again and again while they go; or recorded ones.
import { useEffect, useRef, useState } from "preact/hooks";
import { Refused, answered, got, orUnreachable } from "./api";
import type { CurvesAnswer, RecordedTraining, RunAnswer, StepsAnswer } from "./contract";
import { savedPage } from "./inlined";
import { type Trace, checkedTrace } from "./trace";
import { asError } from "./trouble";

/** A text through the weights of an update, and what the model itself wrote then. */
export interface Then {
  trace: Trace;
  output: string | null;
}

export interface Running {
  runs: readonly RunAnswer[] | null;
  curves: ReadonlyMap<string, CurvesAnswer>;
  /** the run to show unless others are chosen; it stays the same when another one writes */
  newest: string | null;
  /** what is shown where no run is served */
  recorded: RecordedTraining | null;
  trouble: Error | null;
}

const APART = 2000; // milliseconds between two looks at a run that goes on
const RARELY = 5; // so many of them for the list, and for runs that are over

export async function served(): Promise<readonly RunAnswer[]> {
  return (await got("runs")).runs;
}

/** One that trains, or else the one that wrote last. */
export function newestOf(runs: readonly RunAnswer[]): RunAnswer | undefined {
  const training = runs.filter((run) => run.state === "training");
  const among = training.length > 0 ? training : runs;
  return [...among].sort((a, b) => a.silent - b.silent)[0];
}

export function joined(before: CurvesAnswer | undefined, part: CurvesAnswer): CurvesAnswer {
  if (before === undefined || part.is_whole) return part;
  const steps = Object.fromEntries(
    Object.entries(part.steps).map(([name, column]) => [
      name,
      [...before.steps[name as keyof StepsAnswer], ...column],
    ]),
  ) as unknown as StepsAnswer;
  return { ...part, steps, validations: [...before.validations, ...part.validations] };
}

async function curvesOf(name: string, before: CurvesAnswer | undefined): Promise<CurvesAnswer> {
  return joined(before, await got("runs/curves", { run: name, since: before?.cursor ?? "" }));
}

async function cannedRuns(): Promise<RecordedTraining> {
  const page = savedPage();
  if (page !== null) return page.training ?? { runs: [], run: "", trace: null, moments: [] };
  const answer = await fetch("canned.training.json").catch(orUnreachable);
  if (!answer.ok) throw new Refused(`canned.training.json: ${answer.status}`);
  const found = (await answer.json()) as RecordedTraining;
  checkedTrace(found.trace);
  return found;
}

/** No runs, if the service knows of none; one that has gone away is not passed over. */
function orNone(error: unknown): readonly RunAnswer[] {
  if (error instanceof Refused && error.code === "unreachable") throw error;
  return [];
}

/** The runs, and the curves of those that are chosen, as long as the view is open. */
export function useRunning(chosen: readonly string[]): Running {
  const [running, set] = useState<Running>({
    runs: null,
    curves: new Map(),
    newest: null,
    recorded: null,
    trouble: null,
  });
  const wanted = useRef(chosen);
  wanted.current = chosen;
  const names = chosen.join("\n");
  useEffect(() => {
    let isOver = false;
    let timer = 0;
    let turn = 0;
    let known: Running = running;
    const look = async (): Promise<void> => {
      const isFirst = known.runs === null;
      const isTime = isFirst || turn % RARELY === 0;
      const runs = savedPage() !== null ? [] : isTime ? await served().catch(orNone) : known.runs;
      const recorded = (runs ?? []).length === 0 ? (known.recorded ?? (await cannedRuns())) : null;
      const curves = new Map(known.curves);
      const there = new Set(runs?.map((run) => run.name));
      const isThere = known.newest !== null && there.has(known.newest);
      const newest = isThere ? known.newest : (newestOf(runs ?? [])?.name ?? null);
      const named = wanted.current.filter((name) => there.has(name));
      const asking = named.length > 0 ? named : newest !== null ? [newest] : [];
      for (const name of asking) {
        const before = curves.get(name);
        const isDone = before !== undefined && before.run.state === "finished";
        if (isDone && turn % RARELY) continue;
        curves.set(name, await curvesOf(name, before));
      }
      known = { runs, curves, newest, recorded, trouble: null };
      if (!isOver) set(known);
    };
    const again = (): void => {
      const next = document.hidden ? Promise.resolve() : look();
      next
        .catch((error: unknown) => {
          known = { ...known, trouble: asError(error) };
          if (!isOver) set(known);
        })
        .finally(() => {
          turn += 1;
          // Nothing comes where nothing is served.
          if (!isOver && known.recorded === null) timer = window.setTimeout(again, APART);
        });
    };
    again();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [names]);
  return running;
}

export async function momentOf(
  run: string,
  update: number | null,
  source: string,
  target: string | null,
  signal: AbortSignal,
): Promise<Then> {
  const said = await answered("runs/moment", { run, update, source, target }, signal);
  return { trace: checkedTrace(said.trace), output: said.output };
}

/** What became of the heads: of a recorded run, or asked of the service one after the other. */
export function useMoments(
  run: RunAnswer | null,
  recorded: RecordedTraining | null,
  text: string | null,
  times: number,
): { seen: ReadonlyMap<number | null, Then>; trouble: Error | null; isLooking: boolean } {
  const [seen, set] = useState<ReadonlyMap<number | null, Then>>(new Map());
  const [trouble, setTrouble] = useState<Error | null>(null);
  const [isLooking, setLooking] = useState(false);
  const name = run?.name ?? null;
  const updates = (run?.moments ?? []).join(",");
  const last = useRef("");
  useEffect(() => {
    if (recorded !== null) {
      const { trace, moments } = recorded;
      set(
        new Map(
          name === recorded.run && trace !== null
            ? moments.map((one) => [
                one.update,
                { trace: { ...trace, sites: one.sites }, output: one.output },
              ])
            : [],
        ),
      );
      return;
    }
    const key = `${name}\n${text}`;
    let found = last.current === key ? new Map(seen) : new Map<number | null, Then>();
    last.current = key;
    set(found);
    setTrouble(null);
    const moments = run?.moments ?? [];
    if (name === null || text === null || moments.length === 0) return;
    const breaking = new AbortController();
    const find = async (): Promise<void> => {
      setLooking(true);
      // What the run wrote in the end is what all of them read: so their pictures compare.
      const end = moments.at(-1) ?? null;
      const whole = found.get(end) ?? (await momentOf(name, end, text, null, breaking.signal));
      const target = whole.trace.target.text.trim() || null;
      for (const update of [end, ...moments.slice(0, -1).reverse()]) {
        if (found.has(update)) continue;
        const then =
          update === end ? whole : await momentOf(name, update, text, target, breaking.signal);
        found = new Map(found).set(update, then);
        set(found);
      }
    };
    find()
      .catch((error: unknown) => {
        if (!breaking.signal.aborted) setTrouble(asError(error));
      })
      .finally(() => {
        if (!breaking.signal.aborted) setLooking(false);
      });
    return () => breaking.abort();
  }, [name, updates, text, times, recorded]);
  return { seen, trouble, isLooking };
}
