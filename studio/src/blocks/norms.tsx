import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { Card } from "../controls";
import { scaleOf } from "../figures/difference";
import { matrixFigure } from "../figures/matrix";
import { withScale } from "../figures/scale";
import { batchNorm, layerNorm, normalise } from "../mathematics/normalisation";
import { transposed } from "../mathematics/vectors";
import { MatrixPicture } from "../matrix_picture";
import { Save } from "../save";
import { stacked } from "../scene";
import type { BlockProps } from "../views/blocks";
import { Scrolling } from "../scrolling";

/** The lecture's table: six features (rows) of three examples (columns). */
const TABLE = [
  [1, 3, 6],
  [2, 2, 2],
  [0, 1, 5],
  [4, 6, 1],
  [5, 2, 3],
  [1, 0, 1],
];

const said = (value: number): string =>
  (Number.isInteger(value) ? String(value) : value.toFixed(2)).replace("-", "−");

export function Norms({ say, theme }: BlockProps): JSX.Element {
  const [table, setTable] = useState(TABLE);
  const rows = table.map((_, i) => ({ text: say("feature", { n: i }) }));
  const columns = (table[0] ?? []).map((_, j) => ({ text: say("example", { n: j }) }));
  const figures = useMemo(() => {
    const shared = { rows, largest: 52, ramp: "signed" as const, number: said };
    const example = transposed(table)[0] ?? [];
    const layer = example.map((value) => Math.max(0, value - 2));
    const added = example.map((value, i) => value + (layer[i] ?? 0));
    const parts = ["x", "F(x)", "F(x) + x", "norm"].map((text) => ({ text }));
    const normed = [batchNorm(table), layerNorm(table)] as const;
    const scale = scaleOf(...normed); // of both, so that they compare
    const passed = transposed([example, layer, added, normalise(added)]);
    return [
      { title: say("batchNorm"), columns, values: normed[0], scale, below: null },
      { title: say("layerNorm"), columns, values: normed[1], scale, below: null },
      {
        ...{ title: say("residual"), columns: parts, values: passed, scale: scaleOf(passed) },
        below: say("residualSaid"),
      },
    ].map(({ scale, below, ...wish }) => ({
      squares: matrixFigure({ ...shared, ...wish, low: -scale, high: scale }),
      ...{ ...wish, rows, below },
    }));
  }, [table, say]);
  const set = (row: number, column: number, value: number): void =>
    setTable(table.map((one, i) => one.map((old, j) => (i === row && j === column ? value : old))));
  return (
    <Card title={say("norms")} lead={say("normsLead")}>
      <p class="formula">norm(x) = (x − μ) / √(σ² + ε) &emsp; H(x) = F(x) + x</p>
      <div class="figures">
        <figure>
          <figcaption>{say("table")}</figcaption>
          <Scrolling>
            <table class="entry">
              <thead>
                <tr>
                  <td />
                  {columns.map(({ text }) => (
                    <th key={text} scope="col">
                      {text}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {table.map((row, i) => (
                  <tr key={rows[i]?.text}>
                    <th scope="row">{rows[i]?.text}</th>
                    {row.map((value, j) => (
                      <td key={columns[j]?.text}>
                        <input
                          type="number"
                          value={value}
                          step={1}
                          aria-label={`${rows[i]?.text ?? ""}, ${columns[j]?.text ?? ""}`}
                          onInput={(event) => {
                            const given = event.currentTarget.valueAsNumber;
                            if (Number.isFinite(given)) set(i, j, given);
                          }}
                        />
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </Scrolling>
        </figure>
        {figures.map(({ squares, title, values, rows, columns, below }) => (
          <figure key={title}>
            <figcaption>{title}</figcaption>
            <MatrixPicture
              {...{ squares, values, theme, say, table: { rows, columns } }}
              telling="entrySaid"
            />
            {below && <p class="soft">{below}</p>}
          </figure>
        ))}
      </div>
      <Save
        scene={stacked(
          figures.map(({ squares }) => withScale(squares, say)),
          say("norms"),
        )}
        theme={theme}
        name="norms"
        say={say}
      />
    </Card>
  );
}
