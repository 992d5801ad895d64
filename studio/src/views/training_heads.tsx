// The same sentence through the weights of one update after another: how heads find their work.
import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { chosenIn, chosenKind, rowsOf, tellingOf } from "../choosing";
import { Card, Choice } from "../controls";
import { matrixFigure, percent } from "../figures/matrix";
import { withScale } from "../figures/scale";
import { stripFigure } from "../figures/strip";
import { HeadsGrid } from "../heads_grid";
import { MatrixPicture } from "../matrix_picture";
import { Picture } from "../picture";
import type { CurvesAnswer, RunAnswer } from "../contract";
import { type Running, type Then, useMoments } from "../runs";
import { Save } from "../save";
import { stacked } from "../scene";
import { Scrolling } from "../scrolling";
import { maskOf, mean, tableOf, topOf } from "../table";
import { type Trace, kindsOf, siteOf } from "../trace";
import { sayError } from "../trouble";
import { sayHeads } from "../words";
import { type TrainingProps, grouped } from "./training";

interface Props extends TrainingProps {
  run: RunAnswer | null;
  recorded: Running["recorded"];
  /** of the runs that are shown, for a page that is saved */
  curves: readonly CurvesAnswer[];
}

const SECOND = 900; // milliseconds a picture stays while they are played

export function TrainingHeads(props: Props): JSX.Element {
  const { address, go, say, run, recorded } = props;
  const [draft, setDraft] = useState(address.sentence ?? props.draft);
  const { seen, trouble, isLooking } = useMoments(run, recorded, address.sentence, address.times);
  const moments = run?.moments ?? [];
  const there = moments.filter((one) => seen.has(one));
  return (
    <Card name="moments" title={say("moments")} lead={say("momentsLead")}>
      {recorded === null && moments.length > 0 && (
        <form
          class="asked"
          onSubmit={(event) => {
            event.preventDefault();
            if (draft.trim()) go({ sentence: draft.trim(), times: address.times + 1 });
          }}
        >
          <input
            type="text"
            aria-label={say("source")}
            placeholder={say("source")}
            value={draft}
            onInput={(event) => setDraft(event.currentTarget.value)}
          />
          <button type="submit" class="main" disabled={isLooking}>
            {isLooking ? say("lookingBack") : say("lookBack")}
          </button>
        </form>
      )}
      {trouble && (
        <p class="trouble" role="alert">
          {sayError(say, trouble)}
        </p>
      )}
      {moments.length < 2 && (
        <p class="notice">
          {say(moments.length === 0 ? "noMoments" : "oneMoment")}{" "}
          <code>--set training.keep_at="[0, 100, 300, 1000]"</code>
        </p>
      )}
      {there.length > 0 && <Over {...props} moments={there} seen={seen} />}
    </Card>
  );
}

interface OverProps extends Props {
  moments: readonly (number | null)[];
  seen: ReadonlyMap<number | null, Then>;
}

function Over(props: OverProps): JSX.Element | null {
  const { address, go, say, theme, moments, seen } = props;
  const [isPlaying, setPlaying] = useState(false);
  const wanted = address.moment === null ? null : moments.indexOf(address.moment);
  const place = wanted === null || wanted < 0 ? moments.length - 1 : wanted;
  const choose = (i: number): void => {
    const update = moments[Math.min(moments.length - 1, Math.max(0, i))] ?? null;
    go({ moment: update });
  };
  useEffect(() => {
    if (!isPlaying) return;
    const timer = setTimeout(() => {
      choose(place + 1);
      if (place + 1 >= moments.length - 1) setPlaying(false);
    }, SECOND);
    return () => clearTimeout(timer);
  }, [isPlaying, place, moments.length]);
  const then = seen.get(moments[place] ?? null);
  const named = (update: number | null): string =>
    update === null ? say("inUse") : grouped(update);
  const kind = then ? chosenKind(then.trace, address) : "cross";
  const { layer, head, reading } = chosenIn(then?.trace ?? EMPTY, address);
  // One scale for all moments: what is darker later was looked at more.
  const top = useMemo(
    () => Math.max(...[...seen.values()].map(({ trace }) => topOf(trace, kind))),
    [seen, kind],
  );
  const strip = useMemo(
    () =>
      stripFigure(
        moments.map((update, i) => {
          const trace = seen.get(update)?.trace;
          const site = trace && siteOf(trace, kind, layer);
          const weights = site?.weights ?? [];
          const values = head === null ? mean(weights) : (weights[head] ?? []);
          return { text: named(update), values, isChosen: i === place };
        }),
        say("moments"),
        top,
      ),
    [moments, seen, kind, layer, head, place, say, top],
  );
  const site = then && siteOf(then.trace, kind, layer);
  const table = useMemo(
    () =>
      then && site
        ? tableOf(then.trace, site, { reading, ...(head === null ? {} : { heads: [head] }) })
        : null,
    [then, site, head, reading],
  );
  const values = useMemo(() => (table ? mean(table.weights) : []), [table]);
  const below = sayHeads(say, head, site?.weights.length ?? 0);
  const title = say("layer", { n: layer }) + say("comma") + below;
  const squares = useMemo(
    () =>
      table &&
      matrixFigure({
        title,
        values,
        rows: table.rows,
        columns: table.columns,
        span: 460,
        rowMeaning: say(rowsOf(kind, reading)),
        columnMeaning: say("looksAt"),
        number: percent,
        high: Math.max(top, ...values.map((row) => Math.max(...row))),
        masked: maskOf(kind, table.rows, table.columns),
      }),
    [table, values, title, kind, reading, say, top],
  );
  if (!then || !table || !squares) return <p class="trouble">{say("noAttention")}</p>;
  return (
    <>
      <div class="tools moment">
        <Choice
          label={say("attention")}
          isLabelHidden
          options={kindsOf(then.trace).map((one) => [one, say(one)] as const)}
          chosen={kind}
          choose={(one) => go({ site: one, layer: null, head: null })}
        />
        <button
          type="button"
          aria-pressed={isPlaying}
          onClick={() => {
            if (!isPlaying && place === moments.length - 1) choose(0);
            setPlaying(!isPlaying);
          }}
        >
          {say(isPlaying ? "pause" : "play")}
        </button>
        <label class="slider wide">
          <span class="soft">{say("afterUpdate")}</span>
          <input
            type="range"
            min={0}
            max={moments.length - 1}
            step={1}
            value={place}
            aria-valuetext={named(moments[place] ?? null)}
            onInput={(event) => {
              setPlaying(false);
              choose(Number(event.currentTarget.value));
            }}
          />
          <output>{named(moments[place] ?? null)}</output>
        </label>
      </div>
      <dl class="wrote">
        <dt class="soft">{say("source")}</dt>
        <dd>{then.trace.source.text}</dd>
        {then.output !== null && (
          <>
            <dt class="soft">{say("wroteThen")}</dt>
            <dd aria-live="polite">
              {then.output || say("empty")}
              {then.output === then.trace.target.text && <span class="right"> ✓</span>}
            </dd>
          </>
        )}
      </dl>
      <Scrolling>
        <Picture
          scene={strip.scene}
          theme={theme}
          class="picture film"
          onClick={(event) => {
            const box = event.currentTarget.getBoundingClientRect();
            const x = ((event.clientX - box.left) * strip.scene.width) / box.width;
            setPlaying(false);
            choose(Math.floor(x / strip.pitch));
          }}
        />
      </Scrolling>
      <div class="looking">
        <HeadsGrid
          trace={then.trace}
          kind={kind}
          layer={layer}
          head={head}
          theme={theme}
          say={say}
          pointed={null}
          reading={reading}
          top={top}
          choose={(one) => go(one)}
        />
        <div class="half">
          <MatrixPicture
            squares={squares}
            values={values}
            table={table}
            theme={theme}
            say={say}
            selected={{ row: address.row, column: address.column }}
            select={(row, column) => go({ row, column })}
            open={(row, column) => go({ row, column })}
            telling={tellingOf(kind, reading)}
            hint={say("momentHint")}
          />
        </div>
      </div>
      <Save
        scene={stacked([strip.scene, withScale(squares, say)], title)}
        theme={theme}
        name="heads-over-updates"
        say={say}
        trace={then.trace}
        training={{
          runs: props.curves,
          run: props.run?.name ?? "",
          trace: then.trace,
          moments: [...seen].map(([update, { output, trace }]) => ({
            update,
            output,
            sites: trace.sites,
          })),
        }}
      />
    </>
  );
}

const EMPTY: Trace = {
  format: 1,
  source: { text: "", words: [], tokens: [] },
  target: { text: "", words: [], tokens: [] },
  sites: [],
  steps: [],
  provenance: { model: "", kind: "", recipe: "", seed: 0, version: "", is_forced: false },
  aligning: null,
  depths: {},
};
