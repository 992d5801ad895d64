import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { Card, Scrolling, Slider } from "../controls";
import { matrixFigure } from "../figures/matrix";
import { sinusoids } from "../mathematics/positions";
import { dot } from "../mathematics/vectors";
import { Picture } from "../picture";
import { Save } from "../save";
import { type Item, type Scene, stacked } from "../scene";
import type { BlockProps } from "../views/blocks";

/** The encoding, places from top to bottom, waves from fast to slow. */
function encodingFigure(
  table: readonly (readonly number[])[],
  title: string,
  names: readonly [string, string],
): Scene {
  const [rows, columns] = [table.length, table[0]?.length ?? 1];
  const [width, height] = [
    Math.max(320, Math.min(620, columns * 11)),
    Math.max(160, Math.min(420, rows * 11)),
  ];
  const [left, top] = [46, 26];
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
    { kind: "text", x: left, y: 10, text: `${names[1]} 0`, size: 12, colour: "soft" },
    {
      kind: "text",
      x: left + width,
      y: 10,
      text: String(columns - 1),
      size: 12,
      colour: "soft",
      anchor: "end",
    },
    { kind: "text", x: left - 8, y: top + 8, text: "0", size: 12, colour: "soft", anchor: "end" },
    {
      kind: "text",
      x: left - 8,
      y: top + height - 8,
      text: String(rows - 1),
      size: 12,
      colour: "soft",
      anchor: "end",
    },
    {
      kind: "text",
      x: left - 14,
      y: top + height / 2,
      text: names[0],
      size: 12,
      colour: "soft",
      anchor: "middle",
      turned: -90,
    },
  ];
  return { width: left + width + 4, height: top + height + 4, title, items };
}

export function Positions({ address, go, say, theme }: BlockProps): JSX.Element {
  const { length, width } = address;
  const table = useMemo(() => sinusoids(length, width), [length, width]);
  const encoding = useMemo(
    () => encodingFigure(table, say("positions"), [say("place"), say("dimension")]),
    [table, say],
  );
  const alike = useMemo(() => {
    const few = table.slice(0, 24);
    const names = few.map((_, i) => ({ text: i % 4 === 0 ? String(i) : "" }));
    const values = few.map((a) => few.map((b) => dot(a, b)));
    return matrixFigure({
      title: say("alike"),
      values,
      rows: names,
      columns: names,
      span: 390,
      largest: 26,
      ramp: "signed",
      low: -width / 2,
      high: width / 2,
    }).scene;
  }, [table, width, say]);
  return (
    <Card title={say("positions")} lead={say("positionsLead")}>
      <p class="formula">
        PE(pos, 2i) = sin(pos / 10000<sup>2i/d</sup>)
        <br />
        PE(pos, 2i+1) = cos(pos / 10000<sup>2i/d</sup>)
      </p>
      <div class="tools">
        <Slider
          text={say("places")}
          value={length}
          least={2}
          most={128}
          set={(one) => go({ length: one })}
        />
        <Slider
          text={say("width")}
          value={width}
          least={2}
          most={256}
          by={2}
          set={(one) => go({ width: one })}
        />
      </div>
      <div class="figures">
        <Scrolling>
          <Picture scene={encoding} theme={theme} />
        </Scrolling>
        <figure>
          <Scrolling>
            <Picture scene={alike} theme={theme} />
          </Scrolling>
          <figcaption class="soft">{say("alike")}</figcaption>
        </figure>
      </div>
      <Save
        scene={stacked([encoding, alike], say("positions"))}
        theme={theme}
        name="positions"
        say={say}
      />
    </Card>
  );
}
