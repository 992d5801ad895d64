import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { ScoreNumbers } from "../contract";
import { Slider } from "../controls";
import { matrixFigure } from "../figures/matrix";
import { withScale } from "../figures/scale";
import { MatrixPicture } from "../matrix_picture";
import { Save } from "../save";
import type { BlockProps } from "../views/blocks";
import type { Word } from "../words";
import { Block } from "./block";
import { keptBlocks, turn, useNumbers } from "./numbers";

const NARROW = 700; // less room than this has smaller cells
const PLACES = ["h₁", "h₂", "h₃", "h₄"];

const tenths = (value: number): number => Math.round(10 * value) / 10;

/** A query that was changed by hand, and which of its numbers was the last. */
interface Change {
  seed: number;
  query: readonly number[];
  at: number;
}

export function Scores(props: BlockProps): JSX.Element {
  const { address, go, say, isServed } = props;
  const { seed } = address;
  const [change, setChange] = useState<Change | null>(null);
  const tried = change?.seed === seed ? change : null;
  const question = { seed, query: tried?.query ?? null };
  const numbers = useNumbers("scores", isServed, question, (all) => {
    const seeds = [...new Set(all.map((one) => one.question.seed))];
    const those = all.filter((one) => one.question.seed === turn(seeds, seed));
    const own = those.find((one) => !one.question.query);
    if (tried === null || own === undefined) return own?.answer;
    // Recorded is one number at a time: the others go back to what they were.
    const wished = own.answer.query.map((one, i) =>
      i === tried.at ? (tried.query[i] ?? one) : one,
    );
    const found = those.find((one) => one.question.query?.join() === wished.join());
    return (found ?? own).answer;
  });
  const isThere = numbers !== null && !(numbers instanceof Error);
  const query = tried !== null && isServed ? tried.query : isThere ? numbers.query : [];
  const tools = (
    <>
      {query.map((value, i) => (
        <Slider
          key={i}
          text={`q${"₁₂₃₄"[i] ?? ""}`}
          value={tenths(value)}
          least={-2}
          most={2}
          by={isServed ? 0.1 : 0.5}
          set={(one) =>
            setChange({
              seed,
              query: query.map((old, k) => tenths(k === i ? one : old)),
              at: i,
            })
          }
        />
      ))}
      <button type="button" onClick={() => go({ seed: seed + 1 })}>
        {say("another")}
      </button>
    </>
  );
  return (
    <Block
      {...{ say, tools, numbers, title: say("scores"), lead: say("scoresLead") }}
      formula="αᵢ = exp(eᵢ) / Σⱼ exp(eⱼ)"
      figures={(found) => <Figures {...props} numbers={found} />}
    />
  );
}

function Figures({ numbers, say, theme }: BlockProps & { numbers: ScoreNumbers }): JSX.Element {
  const { squares, table } = useMemo(() => {
    const { names, formulas, weights } = numbers;
    const table = {
      values: weights,
      rows: names.map((name, i) => ({ text: `${say(name as Word)}   ${formulas[i] ?? ""}` })),
      columns: PLACES.map((text) => ({ text })),
    };
    const squares = matrixFigure({
      ...table,
      title: say("scores"),
      high: Math.max(...weights.flat()),
      largest: innerWidth < NARROW ? 36 : 54,
      longest: 300,
      number: (value) => value.toFixed(2),
    });
    return { squares, table };
  }, [numbers, say]);
  return (
    <>
      <div class="figures">
        <div class="half">
          <MatrixPicture {...{ squares, table, theme, say }} values={table.values} />
        </div>
        <table class="vectors">
          <caption>{say("keys")}</caption>
          <tbody>
            {numbers.keys.map((key, i) => (
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
      <Save
        scene={withScale(squares, say)}
        theme={theme}
        name="scores"
        blocks={keptBlocks}
        say={say}
      />
    </>
  );
}
