// Runs as they train: curves over each other, and what became of the heads.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Address } from "../address";
import { COLOURS, type Theme, headColour } from "../colours";
import { Card, Choice, Slider } from "../controls";
import {
  type Curve,
  type Panel,
  type Point,
  legendFigure,
  panelFigure,
  smoothed,
  written,
} from "../figures/curves";
import { Picture } from "../picture";
import type { CurvesAnswer, RunAnswer, ValidationAnswer } from "../contract";
import { useRunning } from "../runs";
import { Save } from "../save";
import { stacked } from "../scene";
import { Scrolling } from "../scrolling";
import { sayError } from "../trouble";
import type { Say, Word } from "../words";
import { TrainingHeads } from "./training_heads";

export interface TrainingProps {
  address: Address;
  go: (change: Partial<Address>) => void;
  say: Say;
  theme: Theme;
  /** a sentence to begin with, where a run is asked for one */
  draft: string;
}

const MEASURES = ["bleu", "chrf", "bits_per_character", "perplexity"] as const;
type Measure = (typeof MEASURES)[number];

export const minutes = (seconds: number): string => {
  const whole = Math.round(seconds);
  const [hours, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const two = (value: number): string => String(value).padStart(2, "0");
  return hours ? `${hours}:${two(rest)}:${two(whole % 60)}` : `${rest}:${two(whole % 60)}`;
};

export function TrainingView(props: TrainingProps): JSX.Element {
  const { address, go, say } = props;
  const { runs, curves, newest, recorded, trouble } = useRunning(address.runs);
  const all: readonly RunAnswer[] | null =
    recorded === null ? runs : recorded.runs.map(({ run }) => run);
  const of = (name: string): CurvesAnswer | undefined =>
    recorded === null ? curves.get(name) : recorded.runs.find(({ run }) => run.name === name);
  if (all === null) return <p class="soft loading">{say("loading")}</p>;
  const known = address.runs.filter((name) => all.some((run) => run.name === name));
  const first = newest === null ? all.map((run) => run.name).slice(0, 2) : [newest];
  const chosen = known.length > 0 ? known : first;
  const shown = chosen.flatMap((name) => of(name) ?? []);
  const colourOf = (name: string): ReturnType<typeof headColour> =>
    headColour(
      Math.max(
        0,
        all.findIndex((run) => run.name === name),
      ),
    );
  const toggle = (name: string): void => {
    const rest = chosen.filter((one) => one !== name);
    const after = rest.length < chosen.length ? rest : [...chosen, name];
    if (after.length > 0) go({ runs: after, moment: null });
  };
  return (
    <>
      <Card name="runs" title={say("runs")} lead={say("runsLead")}>
        {recorded !== null && (
          <p class="notice">
            {say("noRuns")} <code>regard serve runs/mine</code>
          </p>
        )}
        {trouble && (
          <p class="trouble" role="alert">
            {sayError(say, trouble)}
          </p>
        )}
        <div class="chips" role="group" aria-label={say("runs")}>
          {all.map((run) => (
            <Chip
              key={run.name}
              run={of(run.name)?.run ?? run}
              isOn={chosen.includes(run.name)}
              colour={COLOURS[props.theme][colourOf(run.name)]}
              say={say}
              toggle={() => toggle(run.name)}
            />
          ))}
        </div>
      </Card>
      <CurvesCard {...props} shown={shown} colourOf={colourOf} />
      <TrainingHeads
        {...props}
        run={shown.find(({ run }) => run.moments.length > 0)?.run ?? shown[0]?.run ?? null}
        recorded={recorded}
        curves={shown}
      />
    </>
  );
}

interface ChipProps {
  run: RunAnswer;
  isOn: boolean;
  colour: string;
  say: Say;
  toggle: () => void;
}

function Chip({ run, isOn, colour, say, toggle }: ChipProps): JSX.Element {
  const way = run.minutes ? run.seconds / (60 * run.minutes) : run.update / (run.updates ?? NaN);
  // Of a budget a part went by before the first update: one that is over is spent.
  const isSpent = run.minutes !== null && run.state === "finished";
  const share = Number.isNaN(way) ? null : isSpent ? 1 : Math.min(1, way);
  const left = share && run.state === "training" ? ((1 - share) / share) * run.seconds : null;
  return (
    <button type="button" class="chip" aria-pressed={isOn} onClick={toggle}>
      <span class="name">
        <svg width="12" height="12" aria-hidden="true">
          <circle cx="6" cy="6" r="5" fill={isOn ? colour : "none"} stroke={colour} />
        </svg>
        <span class="long" title={run.name}>
          {run.name}
        </span>
        <span class={`state ${run.state}`}>
          {say(run.state === "training" ? "isTraining" : run.state)}
        </span>
      </span>
      <span class="soft numbers">
        {run.updates
          ? say("updatesOf", { n: grouped(run.update), total: grouped(run.updates) })
          : say("updatesDone", { n: grouped(run.update) })}
        {" · "}
        {run.minutes
          ? say("timeOf", { time: minutes(run.seconds), whole: minutes(60 * run.minutes) })
          : minutes(run.seconds)}
        {left === null ? "" : ` · ${say("timeLeft", { time: minutes(left) })}`}
      </span>
      <progress max={1} value={share ?? (run.state === "finished" ? 1 : 0)} />
    </button>
  );
}

export const grouped = (value: number): string => value.toLocaleString("en");

interface CurvesProps extends TrainingProps {
  shown: readonly CurvesAnswer[];
  colourOf: (name: string) => ReturnType<typeof headColour>;
}

function CurvesCard(props: CurvesProps): JSX.Element {
  const { address, go, say, theme, shown, colourOf } = props;
  const [at, setAt] = useState<number | null>(null);
  const isTime = address.axis === null ? areBudgets(shown) : address.axis === "time";
  const place = (update: number | null, seconds: number | null): number | null =>
    isTime ? (seconds === null ? null : seconds / 60) : update;
  const measure = measureOf(shown);
  const drawn = useMemo(() => {
    const made = shown.map(({ run, steps, validations }) => {
      const column = (name: "loss" | "learning_rate" | "tokens_per_second"): Point[] =>
        steps[name].flatMap((value, i) => {
          const x = place(steps.update[i] ?? null, steps.seconds[i] ?? null);
          return value === null || x === null ? [] : [[x, value] as const];
        });
      const measured = (name: keyof ValidationAnswer): Point[] =>
        validations.flatMap((one) => {
          const [x, value] = [place(one.update, one.seconds), one[name]];
          return typeof value !== "number" || x === null ? [] : [[x, value] as const];
        });
      return { colour: colourOf(run.name), column, measured };
    });
    const ends = made.flatMap(({ column }) => column("learning_rate").map(([x]) => x));
    const budgets = isTime ? shown.map(({ run }) => run.minutes ?? 0) : [];
    const range = [0, ends.length > 0 ? Math.max(...ends, ...budgets) : 1] as const;
    const across = say(isTime ? "inMinutes" : "inUpdates");
    const share = address.smooth / 100;
    const panel = (title: string, curves: Curve[], fromZero = false): Panel =>
      panelFigure({ title, across, curves, range, fromZero });
    const both = (name: "loss" | "tokens_per_second"): Curve[] =>
      made.flatMap(({ colour, column }) => [
        ...(share > 0 ? [{ colour, points: column(name), isFaint: true }] : []),
        { colour, points: smoothed(column(name), share) },
      ]);
    const marked = (name: keyof ValidationAnswer): Curve[] =>
      made.map(({ colour, measured }) => ({ colour, points: measured(name), hasMarks: true }));
    return [
      panel(say("lossTitle"), [...both("loss"), ...marked("loss")]),
      panel(say(`measure_${measure}` as Word), marked(measure)),
      panel(
        say("rateTitle"),
        made.map(({ colour, column }) => ({ colour, points: column("learning_rate") })),
        true,
      ),
      panel(say("speedTitle"), both("tokens_per_second"), true),
    ];
  }, [shown, isTime, address.smooth, measure, say, theme]);
  const whole = useMemo(() => {
    const named = shown.map(({ run }) => ({ text: run.name, colour: colourOf(run.name) }));
    return stacked([legendFigure(named), ...drawn.map((one) => one.scene)], say("training"));
  }, [drawn, say]);
  const xs = useMemo(() => {
    const found = shown.flatMap(({ steps }) =>
      steps.update.flatMap((update, i) => place(update, steps.seconds[i] ?? null) ?? []),
    );
    return [...new Set(found)].sort((a, b) => a - b);
  }, [shown, isTime]);
  const move = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key];
    if (event.key === "Escape") setAt(null);
    if (by === undefined || xs.length === 0) return;
    event.preventDefault();
    const now = at === null ? (by > 0 ? -1 : xs.length) : xs.findIndex((x) => x >= at);
    setAt(xs[Math.min(xs.length - 1, Math.max(0, now + by))] ?? null);
  };
  return (
    <Card
      name="curves"
      title={say("curves")}
      lead={say("curvesLead")}
      tools={
        <Choice
          label={say("across")}
          isLabelHidden
          options={[
            ["updates", say("inUpdates")],
            ["time", say("inMinutes")],
          ]}
          chosen={isTime ? "time" : "updates"}
          choose={(axis) => {
            setAt(null);
            go({ axis });
          }}
        />
      }
    >
      <div class="tools">
        <Slider
          text={say("smoothing")}
          value={address.smooth}
          least={0}
          most={95}
          by={5}
          set={(smooth) => go({ smooth })}
        />
      </div>
      <div
        class="panels"
        tabIndex={0}
        role="group"
        aria-label={say("curves")}
        onKeyDown={move}
        onPointerLeave={() => setAt(null)}
      >
        {drawn.map((panel) => (
          <Scrolling key={panel.scene.title}>
            <PanelPicture panel={panel} theme={theme} at={at} point={setAt} xs={xs} />
          </Scrolling>
        ))}
      </div>
      <Told shown={shown} at={at} isTime={isTime} say={say} theme={theme} colourOf={colourOf} />
      <Save
        scene={whole}
        theme={theme}
        name="training"
        say={say}
        training={{ runs: shown, run: "", trace: null, moments: [] }}
      />
    </Card>
  );
}

/** Whether time is what all of them were given: then it is what they compare by. */
const areBudgets = (shown: readonly CurvesAnswer[]): boolean =>
  shown.length > 0 && shown.every(({ run }) => run.minutes !== null);

/** What is measured besides the loss: translations where there are any, else what the loss means. */
function measureOf(shown: readonly CurvesAnswer[]): Measure {
  const has = (name: Measure): boolean =>
    shown.some(({ validations }) => validations.some((one) => one[name] !== null));
  return MEASURES.find(has) ?? "perplexity";
}

interface PanelProps {
  panel: Panel;
  theme: Theme;
  at: number | null;
  xs: readonly number[];
  point: (at: number | null) => void;
}

function PanelPicture({ panel, theme, at, xs, point }: PanelProps): JSX.Element {
  const { scene, left, right, top, bottom, low, high } = panel;
  const x = at === null ? null : left + ((at - low) / (high - low)) * (right - left);
  return (
    <Picture
      scene={scene}
      theme={theme}
      class="picture pointing"
      onPointerMove={(event) => {
        const box = event.currentTarget.getBoundingClientRect();
        const here = ((event.clientX - box.left) * scene.width) / box.width;
        const value = low + ((here - left) / (right - left)) * (high - low);
        const near = xs.reduce<number | null>(
          (best, one) =>
            best === null || Math.abs(one - value) < Math.abs(best - value) ? one : best,
          null,
        );
        point(near);
      }}
    >
      {x !== null && (
        <line x1={x} x2={x} y1={top} y2={bottom} stroke={COLOURS[theme].mark} stroke-width={1.2} />
      )}
    </Picture>
  );
}

interface ToldProps {
  shown: readonly CurvesAnswer[];
  at: number | null;
  isTime: boolean;
  say: Say;
  theme: Theme;
  colourOf: CurvesProps["colourOf"];
}

const HEADS = [
  "run",
  "update",
  "time",
  "lossTrain",
  "lossValid",
  "rateTitle",
  "speedTitle",
] as const;

/** The numbers at the line; without one, the last there are. */
function Told({ shown, at, isTime, say, theme, colourOf }: ToldProps): JSX.Element {
  const number = (value: number | null | undefined): string =>
    value === null || value === undefined ? "–" : written(value);
  return (
    <Scrolling>
      <table class="reading" aria-live="polite">
        <thead>
          <tr>
            {HEADS.map((word) => (
              <th key={word} scope="col">
                {say(word)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map(({ run, steps, validations }) => {
            const along = isTime ? steps.seconds : steps.update;
            const limit = at === null ? Infinity : isTime ? 60 * at : at;
            const later = along.findIndex((one) => one !== null && one > limit + 1e-6);
            const i = (later < 0 ? along.length : later) - 1;
            const update = steps.update[i] ?? 0;
            const before = validations.filter((one) => one.update <= Math.max(update, 1)).at(-1);
            const valid = at === null ? validations.at(-1) : before;
            return (
              <tr key={run.name}>
                <th scope="row">
                  <svg width="12" height="12" aria-hidden="true">
                    <circle cx="6" cy="6" r="5" fill={COLOURS[theme][colourOf(run.name)]} />
                  </svg>{" "}
                  <span class="long" title={run.name}>
                    {run.name}
                  </span>
                </th>
                <td>{grouped(update)}</td>
                <td>{minutes(steps.seconds[i] ?? 0)}</td>
                <td>{number(steps.loss[i])}</td>
                <td>{number(valid?.loss)}</td>
                <td>{number(steps.learning_rate[i])}</td>
                <td>{number(steps.tokens_per_second[i])}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Scrolling>
  );
}
