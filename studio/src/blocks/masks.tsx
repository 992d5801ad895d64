import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { Card, Toggle } from "../controls";
import { matrixFigure, percent } from "../figures/matrix";
import { withScale } from "../figures/scale";
import { type Mask, both, causal, everything, padding, window_ } from "../mathematics/masks";
import { dot, randomNumbers, softmax } from "../mathematics/vectors";
import { MatrixPicture } from "../matrix_picture";
import { Save } from "../save";
import { stacked } from "../scene";
import type { BlockProps } from "../views/blocks";

const STORY = ["As", "aliens", "entered", "our", "planet", "and", "began"];
const WIDTH = 8;
const N_FILLING = 2;

export function Masks({ address, go, say, theme }: BlockProps): JSX.Element {
  const [chosen, choose] = useState({ causal: true, padding: false, window: false });
  const n = STORY.length;
  const scores = useMemo(() => {
    const draw = randomNumbers(address.seed);
    const vectors = (): number[][] =>
      STORY.map(() => Array.from({ length: WIDTH }, () => 1.7 * draw()));
    const [queries, keys] = [vectors(), vectors()];
    return queries.map((query) => keys.map((key) => dot(query, key) / Math.sqrt(WIDTH)));
  }, [address.seed]);
  const mask = useMemo(() => {
    const asked: Mask[] = [
      ...(chosen.causal ? [causal(n)] : []),
      ...(chosen.padding ? [padding(n, n - N_FILLING)] : []),
      ...(chosen.window ? [window_(n, 1)] : []),
    ];
    return asked.reduce(both, everything(n));
  }, [chosen, n]);
  const figures = useMemo(() => {
    const names = STORY.map((text, i) =>
      chosen.padding && i >= n - N_FILLING ? { text: "<pad>", is_special: true } : { text },
    );
    const masked = mask.map((row) => row.map((isSeen) => !isSeen));
    const shared = { rows: names, columns: names, masked, span: 330, largest: 46 };
    const weights = scores.map((row, i) => softmax(row, mask[i]));
    const seen = mask.map((row) => row.map(Number));
    const high = Math.max(...weights.flat());
    return [
      { values: seen, ...shared, title: say("mask"), number: String, high: 1 },
      { values: weights, ...shared, title: say("weights"), number: percent, high },
    ].map((wish) => ({ squares: matrixFigure(wish), table: wish }));
  }, [mask, scores, chosen.padding, n, say]);
  return (
    <Card title={say("masks")} lead={say("masksLead")}>
      <p class="formula">
        α = softmax(e), &emsp; e(i, j) = −∞ &ensp;{say("where")}&ensp; m(i, j) = 0
      </p>
      <div class="tools">
        {(["causal", "padding", "window"] as const).map((name) => (
          <Toggle
            key={name}
            text={`${say(name)}: ${say(`${name}Said`)}`}
            isOn={chosen[name]}
            set={(isOn) => choose({ ...chosen, [name]: isOn })}
          />
        ))}
        <button type="button" onClick={() => go({ seed: address.seed + 1 })}>
          {say("another")}
        </button>
      </div>
      <div class="figures">
        {figures.map(({ squares, table }) => (
          <figure key={table.title}>
            <figcaption>{table.title}</figcaption>
            <MatrixPicture {...{ squares, table, theme, say }} values={table.values} />
          </figure>
        ))}
      </div>
      <Save
        scene={stacked(
          figures.map(({ squares }) => withScale(squares, say)),
          say("masks"),
        )}
        theme={theme}
        name="masks"
        say={say}
      />
    </Card>
  );
}
