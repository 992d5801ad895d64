// Forms that show more than one site, or the picture that was read.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { type Form } from "../address";
import { encodingFigure, numbered } from "../blocks/positions";
import { chosenIn, tellingOf } from "../choosing";
import { Card, FormChoice, Toggle } from "../controls";
import { matrixFigure, percent } from "../figures/matrix";
import { unitOf } from "../figures/pictured";
import { withScale } from "../figures/scale";
import { type Step, overviewFigure, picturesFigure, stepsFigure } from "../figures/whole";
import { LONG, LONGER } from "../passages";
import { MatrixPicture, type MatrixProps } from "../matrix_picture";
import { Picture } from "../picture";
import { Save } from "../save";
import type { Scene } from "../scene";
import { Scrolling } from "../scrolling";
import { type Stage, heldOf } from "../stage";
import { type Table, labels, madeWhole, mean, tableOf, usualReading } from "../table";
import { KINDS, type Kind, type Trace, kindsOf } from "../trace";
import type { Say } from "../words";

/** The forms in which a trace can be shown. */
export function formsOf(trace: Trace): readonly Form[] {
  const kinds = kindsOf(trace);
  const isAcross = kinds.includes("cross") && !trace.picture;
  const unit = unitOf(trace);
  const n = trace.picture ? 0 : trace.source.tokens.length;
  const isShort = n < LONGER;
  const can: Record<Form, boolean> = {
    gazes: unit === "glimpse",
    passages: isAcross && n >= LONG,
    matrix: kinds.length > 0 && isShort,
    lines: kinds.length > 0 && unit !== "place" && isShort,
    alignment: isAcross && isShort,
    steps: trace.steps.length > 0 && unit !== "place",
    overview: isAcross && kinds.length > 1 && isShort,
    positions: Boolean(trace.positions),
    pictures: Boolean(trace.picture) && kinds.includes("cross"),
  };
  return (Object.keys(can) as Form[]).filter((form) => can[form]);
}

/** The form at the address, if the trace has it. */
export function formOf(trace: Trace, asked: Form): Form {
  const forms = formsOf(trace);
  return forms.includes(asked) ? asked : (forms[0] ?? "steps");
}

export function Whole({ stage, form }: { stage: Stage; form: Form }): JSX.Element {
  const { address, go, say, theme, shown } = stage;
  const { trace } = shown;
  const { merges, hidesSpecial, layer, head } = address;
  const heads = head === null ? address.heads : [head];
  const key = [form, merges, hidesSpecial, address.site, layer, heads.join(), address.reading];
  const { scene, matrix } = useMemo(() => drawnOf(stage, form, heads), [trace, say, ...key]);
  const title = say(`${form}Long` as "stepsLong");
  return (
    <Card
      name="focus"
      title={title}
      lead={say(`${form}Lead` as "stepsLead")}
      tools={<FormChoice form={form} forms={formsOf(trace)} go={go} say={say} />}
    >
      {form !== "steps" && form !== "positions" && (
        <div class="tools">
          <Toggle text={say("merge")} isOn={merges} set={(merges) => go({ merges })} />
          {form !== "alignment" && (
            <Toggle
              text={say("hide")}
              isOn={hidesSpecial}
              set={(hidesSpecial) => go({ hidesSpecial })}
            />
          )}
        </div>
      )}
      {matrix ? (
        <MatrixPicture {...matrix} {...{ theme, say }} />
      ) : (
        <Scrolling>
          <Picture scene={scene} theme={theme} />
        </Scrolling>
      )}
      <Save {...{ scene, theme, say, trace }} name={form} held={() => heldOf(shown)} />
    </Card>
  );
}

/** A picture; of a matrix also what is needed to read its cells. */
interface Drawn {
  scene: Scene;
  matrix?: Pick<MatrixProps, "squares" | "values" | "table" | "telling">;
}

function drawnMatrix(matrix: NonNullable<Drawn["matrix"]>, say: Say): Drawn {
  return { scene: withScale(matrix.squares, say), matrix };
}

function drawnOf({ address, say, shown }: Stage, form: Form, heads: readonly number[]): Drawn {
  const { trace } = shown;
  const title = say(`${form}Long` as "stepsLong");
  const of = (kind: Kind, wish: object = {}): Table | undefined => {
    const { site, reading } = chosenIn(trace, address, kind);
    if (site === undefined) return undefined;
    const some = heads.filter((one) => one < site.weights.length);
    const { merges, hidesSpecial } = address;
    const chosen = some.length > 0 ? { heads: some } : {};
    return tableOf(trace, site, { merges, hidesSpecial, reading, ...chosen, ...wish });
  };
  const cross = of("cross");
  switch (form) {
    case "overview": {
      if (cross === undefined) break;
      const tables: Partial<Record<Kind, Table>> = {};
      for (const kind of KINDS) {
        const one = of(kind, { reading: usualReading(kind) });
        if (one !== undefined) tables[kind] = one;
      }
      const scene = overviewFigure({ ...tables, cross: tables.cross ?? cross }, title, {
        encoder: say("encoder"),
        decoder: say("decoder"),
        cross: say("cross"),
      });
      return { scene };
    }
    case "alignment": {
      const table = of("cross", { hidesSpecial: true });
      if (table === undefined) break;
      const values = madeWhole(mean(table.weights));
      const squares = matrixFigure({
        title,
        values,
        high: Math.max(0, ...values.map((row) => Math.max(...row))) || 1,
        rows: table.rows,
        columns: table.columns,
        rowMeaning: say(table.reading),
        columnMeaning: say("looksAt"),
        number: percent,
        marksLargest: table.columns.length > 0,
      });
      const telling = tellingOf("cross", table.reading);
      return drawnMatrix({ squares, values, table, telling }, say);
    }
    case "pictures":
      if (cross === undefined) break;
      return { scene: picturesFigure(trace, cross, title, say("thePicture")) };
    case "positions": {
      const values = trace.positions ?? [];
      const most = Math.max(1e-9, ...values.flat().map(Math.abs));
      const scaled = values.map((row) => row.map((value) => value / most));
      const drawn = encodingFigure(scaled, title, [say("place"), say("dimension")]);
      const squares = { ...drawn, scale: { ...drawn.scale, low: -most, high: most } };
      const table = { rows: numbered(values.length), columns: numbered(values[0]?.length ?? 0) };
      return drawnMatrix({ squares, values, table, telling: "encodingCell" }, say);
    }
    default:
      return {
        scene: stepsFigure(
          stepsOf(trace, of("cross", { merges: false, hidesSpecial: false }), say),
          title,
          {
            looked: say("lookedAtStep"),
            step: (n) => say("stepNumber", { n }),
          },
        ),
      };
  }
  return { scene: { width: 1, height: 1, title, items: [] } };
}

function stepsOf(trace: Trace, looks: Table | undefined, say: Say): readonly Step[] {
  const found = labels(trace.target, trace.target.tokens, false);
  const weights = looks === undefined ? [] : mean(looks.weights);
  const clean = (text: string): string => text.replaceAll("▁", " ").trim() || say("empty");
  return trace.steps.map((step, t) => {
    const row = weights[t] ?? [];
    const order = row.map((_, j) => j).sort((a, b) => (row[b] ?? 0) - (row[a] ?? 0));
    return {
      text: found[t]?.text ?? "",
      isSpecial: found[t]?.is_special ?? false,
      share: Math.exp(step.log_probability),
      others: step.alternatives.map((one) => ({
        text: clean(one.text),
        share: Math.exp(one.log_probability),
        isChosen: one.id === trace.target.tokens[t]?.id,
      })),
      looked: order
        .slice(0, 3)
        .filter((j) => (row[j] ?? 0) > 0)
        .map((j) => ({ text: looks?.columns[j]?.text ?? "", share: row[j] ?? 0 })),
    };
  });
}
