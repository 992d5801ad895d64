// The weights of both sides in cells or lines of one scale, and by how much they differ.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Address } from "../address";
import { chosenIn, rowsOf, tellingOf } from "../choosing";
import type { Theme } from "../colours";
import type { Place } from "../comparing";
import { Card, FormChoice } from "../controls";
import { withSign } from "../figures/arithmetic";
import { type Difference, differenceFigure, differenceOf } from "../figures/difference";
import { linesFigure } from "../figures/lines";
import { matrixFigure, percent } from "../figures/matrix";
import { withScale } from "../figures/scale";
import { LinesPicture } from "../lines_picture";
import { MatrixPicture } from "../matrix_picture";
import { type Ends, NOWHERE, type Pointed, endsOf, wordOf } from "../pointing";
import { Save } from "../save";
import { type Scene, beside, stacked, titled } from "../scene";
import { Scrolling } from "../scrolling";
import { type Table, labelAt, maskOf, mean, tableOf, topOf } from "../table";
import type { Kind } from "../trace";
import { type Say, sayHeads } from "../words";
import { PLACES, type Sides, heldSides } from "./compare";

interface Props {
  address: Address;
  go: (change: Partial<Address>) => void;
  say: Say;
  theme: Theme;
  sides: Sides;
  names: readonly string[];
  kind: Kind;
  pointedOn: (place: Place) => Pointed | null;
  point: (place: Place, word: Pointed | null) => void;
}

/** A cell by its row and column among the words of one side. */
interface Cell {
  place: Place;
  row: number;
  column: number;
}

const SPAN = 440;
const LARGEST = 34;

export function ComparePictures(props: Props): JSX.Element {
  const { address, go, say, theme, sides, names, kind, pointedOn, point } = props;
  const [over, setOver] = useState<Cell | null>(null);
  const chosen = sides.map(({ trace }) => chosenIn(trace, address, kind));
  const tables = useMemo(
    () =>
      sides.map(({ trace }, place) => {
        const { site, head, reading } = chosen[place] ?? {};
        if (site === undefined) return null;
        const heads = head === null || head === undefined ? {} : { heads: [head] };
        const { merges, hidesSpecial } = address;
        return tableOf(trace, site, { reading: reading ?? null, merges, hidesSpecial, ...heads });
      }),
    [
      ...sides.map((side) => side.trace),
      kind,
      ...chosen.flatMap((one) => [one.layer, one.head, one.reading]),
      address.merges,
      address.hidesSpecial,
    ],
  );
  const values = useMemo(() => tables.map((table) => mean(table?.weights ?? [])), [tables]);
  const difference = useMemo(() => {
    const [left, right] = tables;
    return left && right ? differenceOf(left, right) : null;
  }, [tables]);
  const selected = useSelected(address, tables, difference, over);
  const isLines = address.form === "lines";
  // A model that never looks in this way has neither a layer nor heads of it.
  const titles = chosen.map(({ layer, head, site }) =>
    site === undefined
      ? null
      : say("layer", { n: layer }) +
        say("comma") +
        sayHeads(say, head, site.weights.length, isLines),
  );
  const drawn = useMemo(() => {
    const longest = Math.max(
      1,
      ...tables.map((table) => Math.max(table?.rows.length ?? 0, table?.columns.length ?? 0)),
    );
    const top = Math.max(...sides.map(({ trace }, i) => topOf(trace, kind, values[i] ?? [])));
    const all = tables.map((table, place) => {
      if (table === null) return null;
      const reading = chosen[place]?.reading ?? "reading";
      const rowMeaning = say(rowsOf(kind, reading));
      const title = `${names[place] ?? ""}${say("comma")}${titles[place] ?? ""}`;
      if (isLines) {
        const word = pointedOn(place as Place);
        const ends = endsOf(word, kind, reading, table.rows, table.columns);
        const lines = linesFigure(table, title, [rowMeaning, say("looksAt")], ends);
        return { lines, squares: null };
      }
      const squares = matrixFigure({
        title,
        values: values[place] ?? [],
        rows: table.rows,
        columns: table.columns,
        rowMeaning,
        columnMeaning: say("looksAt"),
        number: percent,
        high: top,
        masked: maskOf(kind, table.rows, table.columns),
        span: SPAN,
        largest: Math.min(LARGEST, SPAN / longest),
        longest: 100,
        marksLargest: kind === "cross",
      });
      return { lines: null, squares };
    });
    // Pictures shrink to their place: as wide as each other, they shrink alike.
    const width = Math.max(0, ...all.map((one) => (one?.lines ?? one?.squares)?.scene.width ?? 0));
    return all.map((one) => {
      if (one === null) return null;
      const { lines, squares } = one;
      return lines
        ? { lines: { ...lines, scene: { ...lines.scene, width } }, squares: null }
        : { squares: { ...squares, scene: { ...squares.scene, width } }, lines: null };
    });
  }, [tables, values, isLines, say, ...(isLines ? PLACES.map((place) => pointedOn(place)) : [])]);
  const squares = useMemo(
    () =>
      difference === null
        ? null
        : differenceFigure(difference, { title: say("difference"), columnMeaning: say("looksAt") }),
    [difference, say],
  );
  const select = (place: Place, row: number, column: number): void => {
    const cell = difference === null ? null : onTheLeft({ place, row, column }, difference);
    const [table] = tables;
    setOver(cell === null ? { place, row, column } : null);
    if (cell !== null && table) {
      go({
        row: table.rows[cell.row]?.places[0] ?? null,
        column: table.columns[cell.column]?.places[0] ?? null,
      });
    }
  };
  const whole = useMemo(() => {
    const named = drawn.map((one, place): Scene | null => {
      const scene = one?.lines?.scene ?? (one?.squares && withScale(one.squares, say));
      const { source, target } = sides[place as Place].trace;
      const lines = [names[place] ?? "", source.text, target.text, titles[place] ?? ""];
      return scene ? titled(scene, lines) : null;
    });
    const title = say("compare");
    const both = beside(
      named.filter((one) => one !== null),
      title,
    );
    if (squares === null) return both;
    return stacked([both, titled(withScale(squares, say), [say("difference")])], title);
  }, [drawn, squares, say]);
  return (
    <>
      <Card
        name="both"
        title={say(`${kind}Long`)}
        tools={<FormChoice form={address.form} go={go} say={say} />}
      >
        <div class="pair">
          {PLACES.map((place) => {
            const [table, one] = [tables[place] ?? null, drawn[place] ?? null];
            const reading = chosen[place]?.reading ?? "reading";
            const hover = (end: "row" | "column", index: number | null): void => {
              const label = index === null ? undefined : table?.[`${end}s`][index];
              point(place, label === undefined ? null : wordOf(end, label, kind, reading));
            };
            return (
              <div key={place} class="half">
                <h2>{names[place]}</h2>
                {titles[place] && <p class="soft">{titles[place]}</p>}
                {table === null || one === null ? (
                  <p class="soft">{say("noSuchSite")}</p>
                ) : one.lines ? (
                  <Scrolling>
                    <LinesPicture {...{ table, theme, hover }} drawn={one.lines} />
                  </Scrolling>
                ) : (
                  <MatrixPicture
                    {...{ table, theme, say, hover }}
                    squares={one.squares}
                    values={values[place] ?? []}
                    ends={endsOf(pointedOn(place), kind, reading, table.rows, table.columns)}
                    selected={selected[place]}
                    select={(row, column) => select(place, row, column)}
                    open={(row, column) => select(place, row, column)}
                    over={(cell) =>
                      setOver(cell === null ? null : { place, row: cell[0], column: cell[1] })
                    }
                    telling={tellingOf(kind, reading)}
                    hint={say("compareHint")}
                  />
                )}
              </div>
            );
          })}
        </div>
        <Save scene={whole} theme={theme} name="compare" say={say} held={heldSides(sides, names)} />
      </Card>
      {difference !== null && squares !== null && (
        <Card name="unlike" title={say("difference")} lead={say("differenceLead")}>
          <MatrixPicture
            {...{ squares, theme, say }}
            values={difference.values}
            table={difference}
            selected={selected[2]}
            select={(row, column) => {
              const [i, j] = [difference.rowPairs[row], difference.columnPairs[column]];
              if (i && j) select(0, i[0], j[0]);
            }}
            over={(cell) => {
              const [i, j] = [
                difference.rowPairs[cell?.[0] ?? -1],
                difference.columnPairs[cell?.[1] ?? -1],
              ];
              setOver(i && j ? { place: 0, row: i[0], column: j[0] } : null);
            }}
            said={(row, column) => {
              const [i, j] = [difference.rowPairs[row], difference.columnPairs[column]];
              return say("differenceSaid", {
                row: difference.rows[row]?.text ?? "",
                column: difference.columns[column]?.text ?? "",
                left: (values[0]?.[i?.[0] ?? -1]?.[j?.[0] ?? -1] ?? 0).toFixed(3),
                right: (values[1]?.[i?.[1] ?? -1]?.[j?.[1] ?? -1] ?? 0).toFixed(3),
                value: withSign(difference.values[row]?.[column] ?? 0),
              });
            }}
          />
          {difference.nLeftOut > 0 && (
            <p class="soft">{say("leftOut", { n: difference.nLeftOut })}</p>
          )}
        </Card>
      )}
    </>
  );
}

/** The cell of the left side that one of either side is the partner of. */
function onTheLeft(cell: Cell, difference: Difference): Cell | null {
  if (cell.place === 0) return cell;
  const row = difference.rowPairs.find(([, right]) => right === cell.row);
  const column = difference.columnPairs.find(([, right]) => right === cell.column);
  return row && column ? { place: 0, row: row[0], column: column[0] } : null;
}

/** The chosen cell on the left, on the right, and in the difference. */
function useSelected(
  address: Address,
  tables: readonly (Table | null)[],
  difference: Difference | null,
  over: Cell | null,
): readonly [Ends, Ends, Ends] {
  const [table] = tables;
  const asked: Cell | null =
    over ??
    (() => {
      const row = labelAt(table?.rows ?? [], address.row);
      const column = labelAt(table?.columns ?? [], address.column);
      return row === null || column === null ? null : { place: 0, row, column };
    })();
  if (asked === null) return [NOWHERE, NOWHERE, NOWHERE];
  const alone = { row: asked.row, column: asked.column };
  const cell = difference === null ? null : onTheLeft(asked, difference);
  if (cell === null || difference === null) {
    return asked.place === 0 ? [alone, NOWHERE, NOWHERE] : [NOWHERE, alone, NOWHERE];
  }
  const i = difference.rowPairs.findIndex(([left]) => left === cell.row);
  const j = difference.columnPairs.findIndex(([left]) => left === cell.column);
  const [row, column] = [difference.rowPairs[i], difference.columnPairs[j]];
  if (!row || !column) return [cell, NOWHERE, NOWHERE];
  return [cell, { row: row[1], column: column[1] }, { row: i, column: j }];
}
