// One site large: as a matrix or as lines; a word that is pointed at stands out.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { rowsOf, tellingOf } from "../choosing";
import { Card, Choice, FormChoice, Toggle } from "../controls";
import { linesFigure } from "../figures/lines";
import { matrixFigure, percent } from "../figures/matrix";
import { withScale } from "../figures/scale";
import { LinesPicture } from "../lines_picture";
import { MatrixPicture } from "../matrix_picture";
import { type Pointed, endsOf, hasHover, wordOf } from "../pointing";
import { Save } from "../save";
import { formsOf } from "./whole";
import { Scrolling } from "../scrolling";
import { type Stage, heldOf } from "../stage";
import { type Reading, labelAt, maskOf, mean, strongest, tableOf, topOf } from "../table";
import type { Site } from "../trace";
import { sayHeads } from "../words";

/** Less room than this has smaller cells, so that more of them are seen at once. */
const NARROW = 700;

/** One weight of one head. */
interface Behind {
  head: number;
  row: number;
  column: number;
  value: number;
}

interface Props {
  stage: Stage;
  site: Site;
  head: number | null;
  reading: Reading;
  pointed: Pointed | null;
  point: (pointed: Pointed | null) => void;
}

export function Focus({ stage, site, head, reading, pointed, point }: Props): JSX.Element {
  const { address, go, say, theme, shown } = stage;
  const { trace } = shown;
  const { kind, layer } = site;
  const some = address.heads.filter((one) => one < site.weights.length);
  const heads = head === null ? some : [head];
  const table = useMemo(
    () =>
      tableOf(trace, site, {
        reading,
        merges: address.merges,
        hidesSpecial: address.hidesSpecial,
        ...(heads.length === 0 ? {} : { heads }),
      }),
    [trace, site, heads.join(), reading, address.merges, address.hidesSpecial],
  );
  const values = useMemo(() => mean(table.weights), [table]);
  const ends = endsOf(pointed, kind, reading, table.rows, table.columns);
  const rowMeaning = say(rowsOf(kind, reading));
  const title = say(`${kind}Long`) + say("comma") + say("layer", { n: layer });
  const isLines = address.form === "lines";
  const below =
    heads.length > 1
      ? say(isLines ? "theseHeads" : "meanOfThese", { heads: heads.join(say("and")) })
      : sayHeads(say, heads[0] ?? null, site.weights.length, isLines);
  const squares = useMemo(
    () =>
      matrixFigure({
        title: title + say("comma") + below,
        values,
        rows: table.rows,
        columns: table.columns,
        rowMeaning,
        columnMeaning: say("looksAt"),
        number: percent,
        high: topOf(trace, kind, values),
        masked: maskOf(kind, table.rows, table.columns),
        largest: innerWidth < NARROW ? 28 : 38,
        marksLargest: kind === "cross" && table.columns.length > 0,
      }),
    [trace, values, table, rowMeaning, title, below, kind, say],
  );
  const selected = {
    row: labelAt(table.rows, address.row),
    column: labelAt(table.columns, address.column),
  };
  // Whoever asked for a word sees its lines, until another is pointed at.
  const focus = pointed === null ? { row: selected.row, column: null } : ends;
  const drawn = useMemo(
    () =>
      isLines
        ? linesFigure(table, title + say("comma") + below, [rowMeaning, say("looksAt")], focus)
        : null,
    [isLines, table, title, below, rowMeaning, focus.row, focus.column, say],
  );
  const weightsOf = (h: number): readonly (readonly number[])[] => site.weights[h] ?? [];
  /** The one weight behind a cell that the arithmetic is of: the strongest, of heads and of tokens. */
  const behind = (row: number, column: number): Behind | null => {
    const [rowLabel, columnLabel] = [table.rows[row], table.columns[column]];
    if (!rowLabel || !columnLabel) return null;
    const shares = table.weights.map((one) => one[row]?.[column] ?? 0);
    const chosen = head ?? table.heads[shares.indexOf(Math.max(...shares))] ?? 0;
    const [i, j] = strongest(weightsOf(chosen), rowLabel, columnLabel);
    return { head: chosen, row: i, column: j, value: weightsOf(chosen)[i]?.[j] ?? 0 };
  };
  const open = (row: number, column: number): void => {
    const found = behind(row, column);
    if (found === null) return;
    const { value: _, ...cell } = found;
    go({ view: "arithmetic", isLecture: false, site: kind, layer, ...cell });
  };
  /** A cell that is a mean or a sum says so, and what a click opens. */
  const said = (row: number, column: number): string => {
    const [rowLabel, columnLabel] = [table.rows[row], table.columns[column]];
    const told = say(tellingOf(kind, reading), {
      row: rowLabel?.text ?? "",
      column: columnLabel?.text ?? "",
      value: (values[row]?.[column] ?? 0).toFixed(3),
    });
    const found = behind(row, column);
    if (found === null) return told;
    const how = say(hasHover() ? "aClick" : "aTap");
    const value = found.value.toFixed(3);
    const places = { n: table.heads.length, head: found.head, value, how };
    if (table.heads.length > 1) return told + say("cellOfMean", places);
    const isOfWords = (rowLabel?.places.length ?? 1) * (columnLabel?.places.length ?? 1) > 1;
    return isOfWords ? told + say("cellOfWords", places) : told;
  };
  const select = (row: number, column: number): void =>
    go({
      row: table.rows[row]?.places[0] ?? null,
      column: table.columns[column]?.places[0] ?? null,
    });
  const hover = (end: "row" | "column", index: number | null): void => {
    const label =
      index === null ? undefined : end === "row" ? table.rows[index] : table.columns[index];
    point(label === undefined ? null : wordOf(end, label, kind, reading));
  };
  return (
    <Card
      name="focus"
      title={title}
      lead={below}
      tools={
        <FormChoice form={isLines ? "lines" : "matrix"} forms={formsOf(trace)} go={go} say={say} />
      }
    >
      <div class="tools">
        <Toggle text={say("merge")} isOn={address.merges} set={(merges) => go({ merges })} />
        <Toggle
          text={say("hide")}
          isOn={address.hidesSpecial}
          set={(hidesSpecial) => go({ hidesSpecial })}
        />
        {kind !== "encoder" && (
          <Choice
            label={say("rows")}
            options={[
              ["predicting", say("predicting")],
              ["reading", say("reading")],
            ]}
            chosen={reading}
            choose={(one) => go({ reading: one })}
          />
        )}
      </div>
      {kind !== "encoder" && <p class="soft note">{say("rowsSaid")}</p>}
      {drawn === null ? (
        <MatrixPicture
          squares={squares}
          values={values}
          table={table}
          theme={theme}
          say={say}
          ends={ends}
          selected={selected}
          hover={hover}
          select={select}
          open={open}
          said={said}
        />
      ) : (
        <Scrolling>
          <LinesPicture drawn={drawn} table={table} theme={theme} hover={hover} />
        </Scrolling>
      )}
      <Save
        scene={drawn === null ? withScale(squares, say) : drawn.scene}
        theme={theme}
        name={`${kind}-${layer}${head === null ? "" : `-${head}`}`}
        say={say}
        trace={trace}
        held={() => heldOf(shown)}
      />
    </Card>
  );
}
