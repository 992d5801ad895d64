import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { MaskNumbers } from "../contract";
import { Toggle } from "../controls";
import { matrixFigure, percent } from "../figures/matrix";
import { withScale } from "../figures/scale";
import { MatrixPicture } from "../matrix_picture";
import { Save } from "../save";
import { stacked } from "../scene";
import type { BlockProps } from "../views/blocks";
import { Block } from "./block";
import { keptBlocks, turn, useNumbers } from "./numbers";

const MASKS = ["causal", "padding", "window"] as const;
type Chosen = readonly (typeof MASKS)[number][];

export function Masks(props: BlockProps): JSX.Element {
  const { address, go, say, isServed } = props;
  const [masks, choose] = useState<Chosen>(["causal"]);
  const { seed } = address;
  const numbers = useNumbers("masks", isServed, { masks, seed }, (all) => {
    const names = masks.join();
    const alike = all.filter(({ question }) => (question.masks ?? []).join() === names);
    return turn(alike, seed)?.answer;
  });
  const tools = (
    <>
      {MASKS.map((name) => (
        <Toggle
          key={name}
          text={`${say(name)}: ${say(`${name}Said`)}`}
          isOn={masks.includes(name)}
          set={(isOn) => choose(MASKS.filter((one) => (one === name ? isOn : masks.includes(one))))}
        />
      ))}
      <button type="button" onClick={() => go({ seed: seed + 1 })}>
        {say("another")}
      </button>
    </>
  );
  const formula = <>α = softmax(e), &emsp; e(i, j) = −∞ &ensp;{say("where")}&ensp; m(i, j) = 0</>;
  return (
    <Block
      {...{ say, tools, formula, numbers, title: say("masks"), lead: say("masksLead") }}
      figures={(found) => <Figures {...props} numbers={found} />}
    />
  );
}

function Figures({ numbers, say, theme }: BlockProps & { numbers: MaskNumbers }): JSX.Element {
  const figures = useMemo(() => {
    const { words, mask, weights } = numbers;
    const names = words.map((text) => ({ text, is_special: text === "<pad>" }));
    const masked = mask.map((row) => row.map((isSeen) => !isSeen));
    const shared = { rows: names, columns: names, masked, span: 330, largest: 46 };
    const seen = mask.map((row) => row.map(Number));
    const high = Math.max(...weights.flat());
    return [
      { values: seen, ...shared, title: say("mask"), number: String, high: 1 },
      { values: weights, ...shared, title: say("weights"), number: percent, high },
    ].map((wish) => ({ squares: matrixFigure(wish), table: wish }));
  }, [numbers, say]);
  return (
    <>
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
        blocks={keptBlocks}
        say={say}
      />
    </>
  );
}
