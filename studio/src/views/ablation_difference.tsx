// Where the model looks once heads are off: before, after and the difference, layer by layer.
import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { traceOf } from "../api";
import { chosenIn, rowsOf } from "../choosing";
import { Card, Choice } from "../controls";
import { withSign } from "../figures/arithmetic";
import { differenceFigure, differenceOf, scaleOf } from "../figures/difference";
import { type MatrixWish, matrixFigure, percent } from "../figures/matrix";
import { withScale } from "../figures/scale";
import { HeadsGrid } from "../heads_grid";
import type { Retrace } from "../inlined";
import { MatrixPicture } from "../matrix_picture";
import { type Ends, NOWHERE, hasHover } from "../pointing";
import { Save } from "../save";
import { beside, titled } from "../scene";
import { type Shown, type Stage, nameOfHeads } from "../stage";
import { type Table, maskOf, mean, tableOf, topOf } from "../table";
import { type Site, type Trace, kindsOf, siteOf } from "../trace";
import { asError, sayError } from "../trouble";
import { type Say, sayHeads } from "../words";

/** The traces of the same tokens before and after; a text says why there are none. */
function useRetrace(shown: Shown, off: readonly string[], say: Say): Retrace | string | null {
  const key = JSON.stringify([shown.sight, off]);
  const [found, set] = useState<{ key: string; after: Trace | Error } | null>(null);
  useEffect(() => {
    if (shown.sight === null) return;
    const breaking = new AbortController();
    const sight = { ...shown.sight, off };
    traceOf(sight, breaking.signal)
      .then((after) => set({ key, after }))
      .catch((error: unknown) => {
        if (!breaking.signal.aborted) set({ key, after: asError(error) });
      });
    return () => breaking.abort();
  }, [key]);
  if (shown.sight === null) {
    return shown.canned?.retraces?.[nameOfHeads(off)] ?? say("noTraceAfter");
  }
  if (found?.key !== key) return null;
  const { after } = found;
  return after instanceof Error ? sayError(say, after) : { before: shown.trace, after };
}

const LEAST = 0.0005; // a smaller change is not seen in three digits

/** The sites where a head looks elsewhere than before, with after minus before as their weights. */
export function changedSites(before: Trace, after: Trace): readonly Site[] {
  return before.sites.flatMap((site) => {
    const other = siteOf(after, site.kind, site.layer);
    if (other === undefined) return [];
    const weights = site.weights.map((head, h) =>
      head.map((row, i) => row.map((value, j) => (other.weights[h]?.[i]?.[j] ?? 0) - value)),
    );
    return hasChanged(weights)
      ? [{ ...site, weights, is_uniform: site.is_uniform.map(() => false) }]
      : [];
  });
}

const hasChanged = (weights: Site["weights"]): boolean =>
  weights.some((head) => head.some((row) => row.some((value) => Math.abs(value) >= LEAST)));

export function AblationDifference({
  stage,
  off,
}: {
  stage: Stage;
  off: readonly string[];
}): JSX.Element {
  const { say, shown } = stage;
  const found = useRetrace(shown, off, say);
  return (
    <Card name="moved" title={say("moved")} lead={say("movedLead")}>
      {found === null ? (
        <p class="soft">{say("loading")}</p>
      ) : typeof found === "string" ? (
        <p class="notice">
          {found} {shown.sight === null && <code>regard serve MODEL</code>}
        </p>
      ) : (
        <Changes stage={stage} {...found} />
      )}
    </Card>
  );
}

function Changes({ stage, before, after }: { stage: Stage } & Retrace): JSX.Element {
  const { address, go, say, theme } = stage;
  const changes = useMemo<Trace>(
    () => ({ ...before, sites: changedSites(before, after), aligning: null }),
    [before, after],
  );
  const { kind, layer, head, reading } = chosenIn(changes, address);
  const here = changes.sites.filter((site) => site.kind === kind);
  if (here.length === 0) return <p class="soft">{say("nothingMoved")}</p>;
  return (
    <>
      <Choice
        label={say("attention")}
        isLabelHidden
        options={kindsOf(changes).map((one) => [one, say(one)] as const)}
        chosen={kind}
        choose={(one) => go({ site: one, layer: null, head: null })}
      />
      <HeadsGrid
        trace={changes}
        pointed={null}
        top={scaleOf(...here.flatMap((site) => site.weights))}
        isSigned
        choose={(one) => go(one)}
        {...{ kind, layer, head, reading, theme, say }}
      />
      <Three {...{ stage, before, after, kind, layer, head, reading }} />
    </>
  );
}

type Chosen = Omit<ReturnType<typeof chosenIn>, "site">;
type ThreeProps = Chosen & Retrace & { stage: Stage };

/** One layer before and after, and the difference, in the same cells. */
function Three(props: ThreeProps): JSX.Element | null {
  const { stage, before, after, kind, layer, head, reading } = props;
  const { address, say, theme } = stage;
  const [cell, setCell] = useState<Ends>(NOWHERE);
  const { merges, hidesSpecial } = address;
  const drawn = useMemo(() => {
    const traces = [before, after] as const;
    const tables = traces.map((trace): Table | null => {
      const site = siteOf(trace, kind, layer);
      const heads = head === null ? {} : { heads: [head] };
      return site ? tableOf(trace, site, { reading, merges, hidesSpecial, ...heads }) : null;
    });
    const [left, right] = tables;
    const difference = left && right ? differenceOf(left, right) : null;
    if (!left || !right || difference === null) return null;
    const values = [mean(left.weights), mean(right.weights)] as const;
    const high = Math.max(...traces.map((trace, i) => topOf(trace, kind, values[i] ?? [])));
    const shared = {
      ...{ rowMeaning: say(rowsOf(kind, reading)), columnMeaning: say("looksAt") },
      ...{ span: 330, largest: 32, longest: 90 },
    } satisfies Partial<MatrixWish>;
    const squares = [left, right].map((table, i) =>
      matrixFigure({
        ...{ ...shared, high, number: percent, rows: table.rows, columns: table.columns },
        title: say(i === 0 ? "lookedBefore" : "lookedAfter"),
        values: values[i] ?? [],
        masked: maskOf(kind, table.rows, table.columns),
      }),
    );
    const change = differenceFigure(difference, { ...shared, title: say("lookedChange") });
    return { difference, values, all: [...squares, change] };
  }, [before, after, kind, layer, head, reading, merges, hidesSpecial, say]);
  if (drawn === null) return null;
  const { difference, values, all } = drawn;
  const { row, column } = cell;
  const told = (row: number, column: number): string => {
    const names = {
      row: difference.rows[row]?.text ?? "",
      column: difference.columns[column]?.text ?? "",
    };
    if (difference.masked?.[row]?.[column]) return say("cellMasked", names);
    return say("changeSaid", {
      ...names,
      before: (values[0][row]?.[column] ?? 0).toFixed(3),
      after: (values[1][row]?.[column] ?? 0).toFixed(3),
      value: withSign(difference.values[row]?.[column] ?? 0),
    });
  };
  const nHeads = siteOf(after, kind, layer)?.weights.length ?? 0;
  const where = [say(`${kind}Long`), say("layer", { n: layer }), sayHeads(say, head, nHeads)];
  const title = where.join(say("comma"));
  return (
    <>
      <h3>{title}</h3>
      <div class="three">
        {all.map((squares, i) => (
          <div key={i} class="half">
            <h3>{squares.scene.title}</h3>
            <MatrixPicture
              {...{ squares, theme, say }}
              values={values[i] ?? difference.values}
              table={difference}
              selected={cell}
              select={(row, column) => setCell({ row, column })}
              isSilent
              over={(one) => setCell(one === null ? NOWHERE : { row: one[0], column: one[1] })}
            />
          </div>
        ))}
      </div>
      <p class="told" aria-live="polite">
        {row === null || column === null
          ? say(hasHover() ? "readHint" : "readHintTouch")
          : told(row, column)}
      </p>
      <Save
        scene={beside(
          all.map((squares) => titled(withScale(squares, say), [squares.scene.title])),
          title,
        )}
        theme={theme}
        name={`switched-off-${kind}-${layer}`}
        say={say}
        trace={after}
      />
    </>
  );
}
