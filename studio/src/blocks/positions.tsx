import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { PositionNumbers } from "../contract";
import { Choice, Slider } from "../controls";
import { stepOf } from "../figures/curves";
import { type Squares, matrixFigure } from "../figures/matrix";
import { withScale } from "../figures/scale";
import { MatrixPicture } from "../matrix_picture";
import { Save } from "../save";
import { type Item, stacked } from "../scene";
import type { BlockProps } from "../views/blocks";
import { Block } from "./block";
import { keptBlocks, useNumbers } from "./numbers";

/** The encoding, places from top to bottom, waves from fast to slow. */
export function encodingFigure(
  table: readonly (readonly number[])[],
  title: string,
  names: readonly [string, string],
): Squares {
  const [rows, columns] = [table.length, table[0]?.length ?? 1];
  const [width, height] = [
    Math.max(320, Math.min(620, columns * 11)),
    Math.max(160, Math.min(420, rows * 11)),
  ];
  const [left, top] = [58, 44];
  const [across, down] = [width / columns, height / rows];
  const items: Item[] = [
    {
      kind: "heat",
      x: left,
      y: top,
      width,
      height,
      values: table,
      low: -1,
      high: 1,
      ramp: "signed",
    },
    {
      kind: "text",
      x: left + width / 2,
      y: 9,
      text: names[1],
      size: 12.5,
      colour: "soft",
      anchor: "middle",
    },
    {
      kind: "text",
      x: 10,
      y: top + height / 2,
      text: names[0],
      size: 12.5,
      colour: "soft",
      anchor: "middle",
      turned: -90,
    },
  ];
  for (const j of labelled(columns, 30 / across)) {
    const x = left + (j + 0.5) * across;
    items.push(mark(x, top - 6, x, top - 2), {
      kind: "text",
      x,
      y: top - 15,
      text: String(j),
      column: j,
      size: 12,
      colour: "soft",
      anchor: "middle",
    });
  }
  for (const i of labelled(rows, 20 / down)) {
    const y = top + (i + 0.5) * down;
    items.push(mark(left - 6, y, left - 2, y), {
      kind: "text",
      x: left - 10,
      y,
      text: String(i),
      row: i,
      size: 12,
      colour: "soft",
      anchor: "end",
    });
  }
  const scene = { width: left + width + 12, height: top + height + 8, title, items };
  return {
    ...{ scene, left, top, cell: across, tall: down, nRows: rows, nColumns: columns, size: 12 },
    scale: { ramp: "signed", low: -1, high: 1 },
    hasMasked: false,
  };
}

/** Which of so many are named: round ones, and the last; `apart` is how many need a name's room. */
export function labelled(count: number, apart: number): number[] {
  const step = Math.max(1, stepOf(Math.max((count - 1) / 10, apart), 1));
  const found = Array.from({ length: Math.ceil(count / step) }, (_, i) => i * step);
  const last = count - 1;
  return [...found.filter((one) => one === 0 || last - one >= apart), ...(last > 0 ? [last] : [])];
}

const mark = (x1: number, y1: number, x2: number, y2: number): Item => ({
  kind: "path",
  points: [
    [x1, y1],
    [x2, y2],
  ],
  colour: "faint",
  width: 1,
});

export const numbered = (count: number): readonly { text: string }[] =>
  Array.from({ length: count }, (_, i) => ({ text: String(i) }));

export function Positions(props: BlockProps): JSX.Element {
  const { address, go, say, isServed } = props;
  const { length, width } = address;
  const [widths, setWidths] = useState<readonly number[]>([]);
  const numbers = useNumbers("positions", isServed, { length, width }, (all) => {
    const there = all.map((one) => one.question.width ?? 0);
    setWidths(there);
    const nearest = Math.min(...there.map((one) => Math.abs(one - width)));
    const answer = all.find((_, i) => Math.abs((there[i] ?? 0) - width) === nearest)?.answer;
    // The first places of many are those of fewer.
    return (
      answer && {
        encoding: answer.encoding.slice(0, length),
        alike: answer.alike.slice(0, length).map((row) => row.slice(0, length)),
      }
    );
  });
  const isThere = numbers !== null && !(numbers instanceof Error);
  const [nPlaces, nColumns] = isThere
    ? [numbers.encoding.length, numbers.encoding[0]?.length ?? 0]
    : [length, width];
  const tools = (
    <>
      <Slider
        text={say("places")}
        value={isServed === true ? length : nPlaces}
        least={2}
        most={isServed === true ? 128 : 64}
        set={(one) => go({ length: one })}
      />
      {isServed === true ? (
        <Slider
          text={say("width")}
          value={width}
          least={2}
          most={256}
          by={2}
          set={(one) => go({ width: one })}
        />
      ) : (
        <Choice
          label={say("width")}
          options={widths.map((one) => [String(one), String(one)] as const)}
          chosen={String(nColumns)}
          choose={(one) => go({ width: Number(one) })}
        />
      )}
    </>
  );
  const formula = (
    <>
      PE(pos, 2i) = sin(pos / 10000<sup>2i/d</sup>)
      <br />
      PE(pos, 2i+1) = cos(pos / 10000<sup>2i/d</sup>)
    </>
  );
  return (
    <Block
      {...{ say, tools, formula, numbers, title: say("positions"), lead: say("positionsLead") }}
      figures={(found) => <Figures {...props} numbers={found} />}
    />
  );
}

function Figures({ numbers, say, theme }: BlockProps & { numbers: PositionNumbers }): JSX.Element {
  const table = numbers.encoding;
  const [length, width] = [table.length, table[0]?.length ?? 0];
  const encoding = useMemo(
    () => encodingFigure(table, say("positions"), [say("place"), say("dimension")]),
    [table, say],
  );
  const alike = useMemo(() => {
    const values = numbers.alike;
    const names = values.map((_, i) => ({ text: i % 4 === 0 ? String(i) : "" }));
    const squares = matrixFigure({
      title: say("alike"),
      values,
      rows: names,
      columns: names,
      rowMeaning: say("place"),
      columnMeaning: say("place"),
      span: 440,
      largest: 26,
      least: 5,
      ramp: "signed",
      low: -width / 2,
      high: width / 2,
    });
    return { squares, values };
  }, [numbers, width, say]);
  return (
    <>
      <div class="figures">
        <figure>
          <MatrixPicture
            {...{ theme, say }}
            squares={encoding}
            values={table}
            table={{ rows: numbered(length), columns: numbered(width) }}
            telling="encodingCell"
          />
          <figcaption class="soft">{say("encodingSaid")}</figcaption>
        </figure>
        <figure>
          <MatrixPicture
            {...{ theme, say, ...alike }}
            table={{ rows: numbered(length), columns: numbered(length) }}
            telling="alikeCell"
          />
          <figcaption class="soft">{say("alike")}</figcaption>
        </figure>
      </div>
      <Save
        scene={stacked([withScale(encoding, say), withScale(alike.squares, say)], say("positions"))}
        theme={theme}
        name="positions"
        blocks={keptBlocks}
        say={say}
      />
    </>
  );
}
