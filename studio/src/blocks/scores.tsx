import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { Card, Slider } from "../controls";
import { matrixFigure } from "../figures/matrix";
import { withScale } from "../figures/scale";
import { FORMULAS, SCORES, drawnParameters, score } from "../mathematics/scores";
import { randomNumbers, softmax } from "../mathematics/vectors";
import { MatrixPicture } from "../matrix_picture";
import { Save } from "../save";
import type { BlockProps } from "../views/blocks";

const WIDTH = 4;
const N_KEYS = 4;
const PLACES = ["h₁", "h₂", "h₃", "h₄"];

const tenths = (value: number): number => Math.round(10 * value) / 10;

export function Scores({ address, go, say, theme }: BlockProps): JSX.Element {
  const drawn = useMemo(() => {
    const draw = randomNumbers(address.seed);
    const vector = (): number[] => Array.from({ length: WIDTH }, () => tenths(2 * draw()));
    const keys = Array.from({ length: N_KEYS }, vector);
    const query = vector();
    const parameters = new Map(
      SCORES.map((name) => [name, drawnParameters(name, WIDTH, N_KEYS, draw)]),
    );
    // The perceptron is the additive score with W cut in two: given the same numbers, the same.
    const { weight = [], v = [] } = parameters.get("additive") ?? {};
    const [weight_query, weight_key] = [
      weight.map((row) => row.slice(0, WIDTH)),
      weight.map((row) => row.slice(WIDTH)),
    ];
    parameters.set("perceptron", { weight_query, weight_key, v });
    return { keys, query, parameters };
  }, [address.seed]);
  const [change, setChange] = useState<{ seed: number; query: number[] } | null>(null);
  const query = change?.seed === address.seed ? change.query : drawn.query;
  const { squares, table } = useMemo(() => {
    const scores = SCORES.map((name) => score(name, query, drawn.keys, drawn.parameters.get(name)));
    const table = {
      values: scores.map((row) => softmax(row)),
      rows: SCORES.map((name) => ({ text: `${say(name)}   ${FORMULAS[name]}` })),
      columns: PLACES.map((text) => ({ text })),
    };
    const squares = matrixFigure({
      ...table,
      title: say("scores"),
      high: Math.max(...table.values.flat()),
      largest: 54,
      longest: 300,
      number: (value) => value.toFixed(2),
    });
    return { squares, table };
  }, [query, drawn, say]);
  return (
    <Card title={say("scores")} lead={say("scoresLead")}>
      <p class="formula">αᵢ = exp(eᵢ) / Σⱼ exp(eⱼ)</p>
      <div class="tools">
        {query.map((value, i) => (
          <Slider
            key={i}
            text={`q${"₁₂₃₄"[i] ?? ""}`}
            value={value}
            least={-2}
            most={2}
            by={0.1}
            set={(one) =>
              setChange({
                seed: address.seed,
                query: query.map((old, k) => (k === i ? tenths(one) : old)),
              })
            }
          />
        ))}
        <button type="button" onClick={() => go({ seed: address.seed + 1 })}>
          {say("another")}
        </button>
      </div>
      <div class="figures">
        <div class="half">
          <MatrixPicture {...{ squares, table, theme, say }} values={table.values} />
        </div>
        <table class="vectors">
          <caption>{say("keys")}</caption>
          <tbody>
            {drawn.keys.map((key, i) => (
              <tr key={PLACES[i]}>
                <th scope="row">{PLACES[i]}</th>
                {key.map((value, j) => (
                  <td key={j}>{value.toFixed(1).replace("-", "−")}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Save scene={withScale(squares, say)} theme={theme} name="scores" say={say} />
    </Card>
  );
}
