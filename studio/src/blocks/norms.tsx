import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { NormNumbers } from "../contract";
import { scaleOf } from "../figures/difference";
import { matrixFigure } from "../figures/matrix";
import { withScale } from "../figures/scale";
import { MatrixPicture } from "../matrix_picture";
import { Save } from "../save";
import { stacked } from "../scene";
import type { BlockProps } from "../views/blocks";
import { Scrolling } from "../scrolling";
import { Block } from "./block";
import { keptBlocks, turn, useNumbers } from "./numbers";

const said = (value: number): string =>
  (Number.isInteger(value) ? String(value) : value.toFixed(2)).replace("-", "−");

export function Norms(props: BlockProps): JSX.Element {
  const { address, go, say, isServed } = props;
  const [table, setTable] = useState<readonly (readonly number[])[] | null>(null);
  // Without a table it is the lecture's: six features (rows) of three examples (columns).
  const numbers = useNumbers(
    "norms",
    isServed,
    { table },
    (all) => turn(all, address.seed)?.answer,
    address.seed,
  );
  const tools =
    isServed === false ? (
      <button type="button" onClick={() => go({ seed: address.seed + 1 })}>
        {say("anotherTable")}
      </button>
    ) : null;
  return (
    <Block
      {...{ say, tools, numbers, title: say("norms"), lead: say("normsLead") }}
      formula={<>norm(x) = (x − μ) / √(σ² + ε) &emsp; H(x) = F(x) + x</>}
      figures={(found) => <Figures {...props} numbers={found} set={setTable} />}
    />
  );
}

type FiguresProps = BlockProps & {
  numbers: NormNumbers;
  set: (table: readonly (readonly number[])[]) => void;
};

function Figures({ numbers, set, say, theme, isServed }: FiguresProps): JSX.Element {
  const { table } = numbers;
  const rows = table.map((_, i) => ({ text: say("feature", { n: i }) }));
  const columns = (table[0] ?? []).map((_, j) => ({ text: say("example", { n: j }) }));
  const figures = useMemo(() => {
    const shared = { rows, largest: 52, ramp: "signed" as const, number: said };
    const parts = ["x", "F(x)", "F(x) + x", "norm"].map((text) => ({ text }));
    const normed = [numbers.batch_norm, numbers.layer_norm] as const;
    const scale = scaleOf(...normed); // of both, so that they compare
    const passed = numbers.residual;
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
  }, [numbers, say]);
  const change = (row: number, column: number, value: number): void =>
    set(table.map((one, i) => one.map((old, j) => (i === row && j === column ? value : old))));
  return (
    <>
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
                          disabled={isServed !== true}
                          aria-label={`${rows[i]?.text ?? ""}, ${columns[j]?.text ?? ""}`}
                          onInput={(event) => {
                            const given = event.currentTarget.valueAsNumber;
                            if (Number.isFinite(given)) change(i, j, given);
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
        blocks={keptBlocks}
        say={say}
      />
    </>
  );
}
