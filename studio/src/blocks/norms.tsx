import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { Card } from "../controls";
import { matrixFigure } from "../figures/matrix";
import { batchNorm, layerNorm, normalise } from "../mathematics/normalisation";
import { transposed } from "../mathematics/vectors";
import { Picture } from "../picture";
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
  const scenes = useMemo(() => {
    const shared = {
      rows,
      columns,
      largest: 52,
      ramp: "signed" as const,
      low: -3,
      high: 3,
      number: said,
    };
    const example = transposed(table)[0] ?? [];
    const layer = example.map((value) => Math.max(0, value - 2));
    const added = example.map((value, i) => value + (layer[i] ?? 0));
    return {
      batch: matrixFigure({ ...shared, title: say("batchNorm"), values: batchNorm(table) }).scene,
      layer: matrixFigure({ ...shared, title: say("layerNorm"), values: layerNorm(table) }).scene,
      residual: matrixFigure({
        ...shared,
        title: say("residual"),
        columns: ["x", "F(x)", "F(x) + x", "norm"].map((text) => ({ text })),
        values: transposed([example, layer, added, normalise(added)]),
        low: -12,
        high: 12,
      }).scene,
    };
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
        {[scenes.batch, scenes.layer].map((scene) => (
          <figure key={scene.title}>
            <figcaption>{scene.title}</figcaption>
            <Scrolling>
              <Picture scene={scene} theme={theme} />
            </Scrolling>
          </figure>
        ))}
        <figure>
          <figcaption>{scenes.residual.title}</figcaption>
          <Scrolling>
            <Picture scene={scenes.residual} theme={theme} />
          </Scrolling>
          <p class="soft">{say("residualSaid")}</p>
        </figure>
      </div>
      <Save
        scene={stacked([scenes.batch, scenes.layer, scenes.residual], say("norms"))}
        theme={theme}
        name="norms"
        say={say}
      />
    </Card>
  );
}
