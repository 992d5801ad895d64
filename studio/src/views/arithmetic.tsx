// Where one weight comes from, step by step, with the real numbers of the head.
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { arithmeticOf } from "../api";
import { type Arithmetic, LECTURE, cellOf, lectureCell } from "../arithmetic";
import { Card, Choice } from "../controls";
import { arithmeticFigures } from "../figures/arithmetic";
import { matrixFigure, percent } from "../figures/matrix";
import { MatrixPicture } from "../matrix_picture";
import { Picture } from "../picture";
import { Save } from "../save";
import { stacked } from "../scene";
import { Scrolling } from "../scrolling";
import { type Stage, heldOf } from "../stage";
import { type Table, labels, maskOf, mean, tableOf, topOf } from "../table";
import { type Kind, defaultLayer, kindsOf, siteOf } from "../trace";
import { HeadWeights } from "./head_weights";
import { asError, sayError } from "../trouble";

export interface Chosen {
  kind: Kind;
  layer: number;
  head: number;
  row: number;
  column: number;
}

/** The cell of the address, brought within what the trace has. */
function chosenCell({ address, shown }: Stage): Chosen | null {
  const { trace } = shown;
  const kinds = kindsOf(trace);
  const kind = kinds.includes(address.site) ? address.site : kinds.at(-1);
  if (kind === undefined) return null;
  const layer = siteOf(trace, kind, address.layer ?? -1)?.layer ?? defaultLayer(trace, kind);
  const weights = siteOf(trace, kind, layer)?.weights ?? [];
  const within = (value: number | null, count: number): number =>
    Math.min(value ?? 0, Math.max(0, count - 1));
  const row = within(address.row ?? 1, weights[0]?.length ?? 1);
  // Of the mean of heads, the head that looks most.
  const shares = weights.map((one) => {
    const looked = one[row] ?? [];
    return address.column === null ? Math.max(...looked) : (looked[address.column] ?? 0);
  });
  const most = shares.indexOf(Math.max(...shares));
  const head = within(address.head ?? Math.max(0, most), weights.length);
  const strongest = weights[head]?.[row] ?? [];
  const column = address.column ?? strongest.indexOf(Math.max(...strongest));
  return { kind, layer, head, row, column: within(column, strongest.length) };
}

function useArithmetic(
  stage: Stage,
  cell: Chosen | null,
  table: Table | null,
): Arithmetic | string | null {
  const { shown, say } = stage;
  const [served, setServed] = useState<Arithmetic | Error | null>(null);
  const key = cell === null ? "" : JSON.stringify([shown.sight, cell]);
  const names = {
    row: table?.rows[cell?.row ?? 0]?.text ?? "",
    columns: table?.columns.map((label) => label.text) ?? [],
  };
  useEffect(() => {
    if (shown.sight === null || cell === null) return;
    const breaking = new AbortController();
    const { kind, ...rest } = cell;
    arithmeticOf(shown.sight, { site: kind, ...rest }, breaking.signal)
      .then((found) =>
        setServed({
          ...found,
          row_token: names.row,
          column_token: names.columns[cell.column] ?? "",
          column_tokens: names.columns,
        }),
      )
      .catch((error: unknown) => {
        if (!breaking.signal.aborted) setServed(asError(error));
      });
    return () => breaking.abort();
  }, [key]);
  const recorded = useMemo(() => {
    const vectors = shown.canned?.sites.find(
      (one) => one.kind === cell?.kind && one.layer === cell.layer,
    );
    const weights = cell === null ? undefined : siteOf(shown.trace, cell.kind, cell.layer)?.weights;
    if (!vectors || !weights || cell === null) return null;
    return cellOf(vectors, weights, [cell.head, cell.row, cell.column], names);
  }, [shown.canned, key, names.row]);
  if (shown.sight !== null) return served instanceof Error ? sayError(say, served) : served;
  return recorded ?? say("needsModel");
}

export function ArithmeticView(stage: Stage): JSX.Element {
  const { address, go, say, theme, shown } = stage;
  const cell = chosenCell(stage);
  const site = cell === null ? undefined : siteOf(shown.trace, cell.kind, cell.layer);
  const table = useMemo(() => {
    if (!site || cell === null) return null;
    // A query is of the word read, whatever the rows of other pictures are named by.
    const wish = { merges: false, heads: [cell.head], reading: "reading" } as const;
    return tableOf(shown.trace, site, wish);
  }, [shown.trace, site, cell?.head]);
  const predicted = useMemo(
    () =>
      cell === null || cell.kind === "encoder"
        ? null
        : labels(shown.trace.target, shown.trace.target.tokens, false),
    [shown.trace, cell?.kind],
  );
  const isDecoder = predicted !== null && !address.isLecture;
  const real = useArithmetic(stage, cell, table);
  const [at, setAt] = useState<readonly [number, number]>([0, 0]);
  const found = address.isLecture ? lectureCell(...at) : real;
  // Large type and small screens have room for fewer numbers beside each other.
  const inLine = address.isLarge || innerWidth < 700 ? 8 : 16;
  const figures = useMemo(
    () =>
      found === null || typeof found === "string" ? [] : arithmeticFigures(found, say, inLine),
    [address.isLecture ? JSON.stringify(at) : found, address.isLecture, say, inLine],
  );
  const nSteps = figures.length;
  const step = Math.min(address.step, Math.max(1, nSteps));
  useKeys(nSteps, step, (one) => go({ step: one }));
  const shownTable: Pick<Table, "rows" | "columns"> | null = address.isLecture
    ? {
        rows: LECTURE.words.map((text, i) => ({ text, places: [i], is_special: false })),
        columns: LECTURE.words.map((text, i) => ({ text, places: [i], is_special: false })),
      }
    : table;
  const values = address.isLecture ? (LECTURE.weights[0] ?? []) : mean(table?.weights ?? []);
  const chosen = address.isLecture
    ? { row: at[0], column: at[1] }
    : { row: cell?.row ?? null, column: cell?.column ?? null };
  const { rows, columns } = shownTable ?? { rows: [], columns: [] };
  const squares = useMemo(
    () =>
      matrixFigure({
        title: say("cell"),
        values,
        rows: rows.map((row, i) =>
          isDecoder ? { ...row, text: `${row.text} → ${predicted[i]?.text ?? ""}` } : row,
        ),
        columns,
        ...(isDecoder ? { rowMeaning: say("readThenPredicted") } : {}),
        number: percent,
        ...(cell !== null && !address.isLecture
          ? { high: topOf(shown.trace, cell.kind), masked: maskOf(cell.kind, rows, columns) }
          : {}),
        span: 340,
        least: 18,
        largest: 44,
      }),
    [address.isLecture, table, say],
  );
  const choose = (row: number, column: number): void => {
    if (address.isLecture) setAt([row, column]);
    else go({ row, column, ...(cell ? { layer: cell.layer, head: cell.head } : {}) });
  };
  const where =
    cell && !address.isLecture
      ? say("headOf", { site: say(`${cell.kind}Long`), layer: cell.layer, head: cell.head })
      : say("lectureLead");
  return (
    <>
      <div class="intro">
        <p>{say("arithmeticLead")}</p>
        <div class="tools">
          <Choice
            label={say("arithmetic")}
            isLabelHidden
            options={[
              ["cell", say("thisCell")],
              ["lecture", say("preset")],
            ]}
            chosen={address.isLecture ? "lecture" : "cell"}
            choose={(one) => go({ isLecture: one === "lecture" })}
          />
          {nSteps > 0 && (
            <div class="stepping">
              <button
                type="button"
                onClick={() => go({ step: Math.max(1, step - 1) })}
                disabled={step <= 1}
              >
                ← {say("previous")}
              </button>
              <span class="soft number">{say("ofSteps", { n: step, total: nSteps })}</span>
              <button
                type="button"
                onClick={() => go({ step: Math.min(nSteps, step + 1) })}
                disabled={step >= nSteps}
              >
                {say("next")} →
              </button>
            </div>
          )}
        </div>
      </div>
      <div class="stepwise">
        <Card name="chooser" title={say("cell")} lead={where}>
          <MatrixPicture
            squares={squares}
            values={values}
            table={{ rows, columns }}
            theme={theme}
            say={say}
            ends={{ row: chosen.row, column: null }}
            selected={chosen}
            telling={isDecoder ? "cellReading" : "cellSaid"}
            select={choose}
            open={choose}
          />
        </Card>
        <div class="steps">
          {cell !== null && site && !address.isLecture && (
            <HeadWeights
              {...{ stage, cell, site }}
              choose={(head) => go({ layer: cell.layer, row: cell.row, column: cell.column, head })}
            />
          )}
          {typeof found === "string" ? (
            <p class="notice">{found}</p>
          ) : found === null ? (
            <p class="soft">{say("loading")}</p>
          ) : (
            <Steps
              {...{ found, figures, step, say, theme }}
              predicted={isDecoder ? (predicted[cell?.row ?? 0]?.text ?? "") : null}
            />
          )}
          {nSteps > 0 && (
            <Save
              scene={stacked(figures.slice(0, step), say("arithmetic"))}
              theme={theme}
              name="arithmetic"
              say={say}
              {...(address.isLecture ? {} : { trace: shown.trace, held: () => heldOf(shown) })}
            />
          )}
        </div>
      </div>
    </>
  );
}

function useKeys(nSteps: number, step: number, set: (step: number) => void): void {
  // At once, not after the page is painted: a key pressed in between would count from the last step.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const element = event.target instanceof Element ? event.target : null;
      if (
        element?.closest("svg, canvas, input, textarea, select") ||
        event.ctrlKey ||
        event.altKey ||
        event.metaKey
      )
        return;
      const forward = event.key === "ArrowRight" || event.key === "PageDown";
      const back = event.key === "ArrowLeft" || event.key === "PageUp";
      if (nSteps === 0 || (!forward && !back)) return;
      event.preventDefault();
      set(Math.min(nSteps, Math.max(1, step + (forward ? 1 : -1))));
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [nSteps, step, set]);
}

type StepsProps = Pick<Stage, "say" | "theme"> & {
  found: Arithmetic;
  figures: ReturnType<typeof arithmeticFigures>;
  step: number;
  /** the word that a step of the decoder predicts; null where nothing is predicted */
  predicted: string | null;
};

function Steps({ found, figures, step, say, theme, predicted }: StepsProps): JSX.Element {
  const d = found.query.length;
  const before = useRef(step);
  useEffect(() => {
    if (before.current === step) return;
    before.current = step;
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const card = document.querySelector(".cards > .current");
    card?.scrollIntoView({ block: "nearest", behavior: isCalm ? "auto" : "smooth" });
  }, [step]);
  const places = {
    row: found.row_token,
    column: found.column_token,
    predicted: predicted ?? "",
  };
  const said = [
    say(predicted === null ? "step1Said" : "step1Predicting", places),
    ...(found.products === null
      ? []
      : [
          say("step2Said"),
          say("step3Said"),
          say("step4Said", { d, root: String(Math.round(1000 * (found.divisor ?? 1)) / 1000) }),
        ]),
    say("step5Said"),
    say(predicted === null ? "step6Said" : "step6Predicting", places),
  ];
  return (
    <ol class="cards">
      {figures.slice(0, step).map((scene, i) => (
        <li key={scene.title} class={i === step - 1 ? "card current" : "card"}>
          <header>
            <h2>
              <span class="count">{i + 1}</span> {scene.title}
            </h2>
          </header>
          <p class="soft">{said[i]}</p>
          <Scrolling>
            <Picture scene={scene} theme={theme} />
          </Scrolling>
        </li>
      ))}
      {found.products === null && (
        <li class="notice">{say("otherScore", { formula: found.formula })}</li>
      )}
    </ol>
  );
}
