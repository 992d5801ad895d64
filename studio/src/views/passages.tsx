// A long document: a strip of all of it beside its text, bright where the model looked.
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { chosenIn } from "../choosing";
import { type Theme, hex, rampTable, readable, shade } from "../colours";
import { Card, Choice, FormChoice } from "../controls";
import { LEVELS, binned, lookedAt, passagesOf, runsOf } from "../passages";
import type { Stage } from "../stage";
import { type Label, labels } from "../table";
import { layersOf, siteOf } from "../trace";
import { formsOf } from "./whole";

const [BINS, HIGH] = [1200, 44]; // of the strip, in pixels of its own

export function Passages({ stage }: { stage: Stage }): JSX.Element {
  const { address, go, say, shown, theme } = stage;
  const { trace } = shown;
  const { layer, head, site } = chosenIn(trace, address, "cross");
  const { source, target } = trace;
  const words = useMemo(
    () => labels(source, source.tokens, true).filter((one) => one.span !== undefined),
    [trace],
  );
  const written = useMemo(() => labels(target, target.tokens, true), [trace]);
  const row = written.find((one) => address.row !== null && one.places.includes(address.row));
  const weights = useMemo(() => {
    const all = site?.weights ?? [];
    const chosen = head === null ? all : all.slice(head, head + 1);
    return lookedAt(chosen, words, row?.places ?? null);
  }, [trace, layer, head, row]);
  const runs = useMemo(() => runsOf(source, words, weights), [source, words, weights]);
  const best = useMemo(() => passagesOf(source, words, weights), [source, words, weights]);
  const text = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState<readonly [number, number]>([0, 1]);
  const look = (): void => {
    if (text.current) setSeen(sightOf(text.current, words.length));
  };
  const goTo = (word: number): void => {
    if (text.current) scrollTo(text.current, word);
  };
  useEffect(() => goTo(best[0]?.word ?? 0), [best]);
  const nHeads = siteOf(trace, "cross", layer)?.weights.length ?? 0;
  return (
    <Card
      name="focus"
      title={say("passagesLong")}
      lead={say("passagesLead")}
      tools={<FormChoice form="passages" forms={formsOf(trace)} go={go} say={say} />}
    >
      <div class="tools">
        <Choice
          label={say("layers")}
          options={layersOf(trace, "cross").map((one) => [String(one), String(one)] as const)}
          chosen={String(layer)}
          choose={(one) => go({ layer: Number(one), head: null, heads: [] })}
        />
        <Choice
          label={say("headsAlone")}
          options={[
            ["all", say("mean")] as const,
            ...Array.from({ length: nHeads }, (_, i) => [String(i), String(i)] as const),
          ]}
          chosen={head === null ? "all" : String(head)}
          choose={(one) => go({ head: one === "all" ? null : Number(one), heads: [] })}
        />
      </div>
      <Written {...{ written, row, say }} choose={(place) => go({ row: place, column: null })} />
      <Strip {...{ weights, theme, seen, goTo }} label={say("stripSaid")} />
      <div class="beside">
        <div class="document" ref={text} tabIndex={0} onScroll={look} role="document">
          {runs.map((run) => (
            <span key={run.from} data-from={run.from} style={styleOf(run.level, theme)}>
              {run.text}
            </span>
          ))}
        </div>
        <ol class="passages">
          {best.map((one) => (
            <li key={one.word}>
              <button type="button" class="plain" onClick={() => goTo(one.word)}>
                {one.text}
              </button>
              <span class="soft number">{(100 * one.share).toFixed(1)} %</span>
            </li>
          ))}
        </ol>
      </div>
    </Card>
  );
}

interface WrittenProps {
  written: readonly Label[];
  row: Label | undefined;
  say: Stage["say"];
  choose: (place: number | null) => void;
}

/** The words of the output: each shows where it looked, all of them together where any did. */
function Written({ written, row, say, choose }: WrittenProps): JSX.Element {
  return (
    <p class="written" role="group" aria-label={say("output")}>
      <button type="button" aria-pressed={row === undefined} onClick={() => choose(null)}>
        {say("allWords")}
      </button>
      {written.map((one) => (
        <button
          type="button"
          key={one.places[0]}
          class={one.is_special ? "special" : ""}
          aria-pressed={one === row}
          onClick={() => choose(one === row ? null : (one.places[0] ?? null))}
        >
          {one.text}
        </button>
      ))}
    </p>
  );
}

interface StripProps {
  weights: readonly number[];
  theme: Theme;
  /** which part of the text is in sight, as shares of it */
  seen: readonly [number, number];
  goTo: (word: number) => void;
  label: string;
}

function Strip({ weights, theme, seen, goTo, label }: StripProps): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const brush = canvas.current?.getContext("2d");
    if (!brush) return;
    const bins = binned(weights, BINS);
    const most = Math.max(1e-9, ...bins);
    const ramp = rampTable(theme, "weights");
    bins.forEach((weight, x) => {
      // Roots, for most of a document gets little.
      brush.fillStyle = hex(ramp[shade(Math.sqrt(weight / most), 0, 1)] ?? [0, 0, 0]);
      brush.fillRect(x, 0, 1, HIGH);
    });
  }, [weights, theme]);
  const n = weights.length;
  const [from, to] = seen;
  const step = Math.max(1, Math.round((to - from) * n));
  return (
    <div
      class="strip"
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(100 * from)}
      onPointerDown={(event) => {
        const box = event.currentTarget.getBoundingClientRect();
        goTo(Math.floor(((event.clientX - box.left) / box.width) * n));
      }}
      onKeyDown={(event) => {
        const by = { ArrowRight: step, ArrowDown: step, ArrowLeft: -step, ArrowUp: -step }[
          event.key
        ];
        if (by === undefined) return;
        event.preventDefault();
        goTo(Math.min(n - 1, Math.max(0, Math.round(((from + to) / 2) * n) + by)));
      }}
    >
      <canvas ref={canvas} width={BINS} height={HIGH} />
      <span style={{ left: `${100 * from}%`, width: `${100 * (to - from)}%` }} />
    </div>
  );
}

function styleOf(level: number, theme: Theme): { background?: string; color?: string } {
  if (level === 0) return {};
  const place = Math.round((255 * level) / LEVELS);
  const ground = rampTable(theme, "weights")[place] ?? [0, 0, 0];
  return { background: hex(ground), color: readable(theme, "weights", place) };
}

const runsIn = (text: HTMLElement): HTMLElement[] => Array.from(text.children) as HTMLElement[];

/** Put a word in the middle of what is seen. */
function scrollTo(text: HTMLElement, word: number): void {
  const run = runsIn(text).findLast((one) => Number(one.dataset["from"]) <= word);
  if (run) text.scrollTop = run.offsetTop - text.clientHeight / 2;
}

/** Which words are in sight, as shares of all. */
function sightOf(text: HTMLElement, n: number): readonly [number, number] {
  const [top, bottom] = [text.scrollTop, text.scrollTop + text.clientHeight];
  const runs = runsIn(text);
  const place = (run: HTMLElement | undefined): number => Number(run?.dataset["from"] ?? n);
  const first = runs.findLast((one) => one.offsetTop <= top);
  const last = runs.find((one) => one.offsetTop >= bottom);
  return [place(first ?? runs[0]) / n, place(last) / n];
}
