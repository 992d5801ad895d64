// Which head an arithmetic is of, what it has to do with the mean of all, and the others to choose.
import type { JSX } from "preact";
import { chosenIn } from "../choosing";
import type { Stage } from "../stage";
import { type Matrix, labelAt, mean, tableOf } from "../table";
import type { Site } from "../trace";
import type { Chosen } from "./arithmetic";

interface Props {
  stage: Stage;
  cell: Chosen;
  site: Site;
  choose: (head: number) => void;
}

export function HeadWeights({ stage, cell, site, choose }: Props): JSX.Element | null {
  const { say } = stage;
  const { row, column, head } = cell;
  const weights = site.weights.map((one) => one[row]?.[column] ?? 0);
  const n = weights.length;
  const whole = wordsAround(stage, cell, site);
  if (n === 1 && whole === null) return null;
  const average = weights.reduce((sum, one) => sum + one, 0) / n;
  const [value, inMean] = [(weights[head] ?? 0).toFixed(3), average.toFixed(3)];
  return (
    <div class="head-weights">
      {n > 1 && <p>{say("oneOfHeads", { head, value, n, mean: inMean })}</p>}
      {whole !== null && <p>{say("oneOfTokens", whole)}</p>}
      {n > 1 && (
        <div class="choice" role="group" aria-label={say("headWeights")}>
          <span class="segments">
            {weights.map((weight, h) => (
              <button type="button" key={h} aria-pressed={h === head} onClick={() => choose(h)}>
                {say("head", { n: h })} <span class="number">{weight.toFixed(3)}</span>
              </button>
            ))}
          </span>
        </div>
      )}
    </div>
  );
}

/** The cell of whole words that these two tokens are part of, as the matrix shows it. */
function wordsAround(
  { address, shown }: Stage,
  { kind, row, column, head }: Chosen,
  site: Site,
): Record<"row" | "column" | "value" | "mean", string> | null {
  if (!address.merges) return null;
  const { reading } = chosenIn(shown.trace, address, kind);
  const table = tableOf(shown.trace, site, { merges: true, reading });
  const [i, j] = [labelAt(table.rows, row), labelAt(table.columns, column)];
  const [one, other] = [table.rows[i ?? -1], table.columns[j ?? -1]];
  if (i === null || j === null || !one || !other) return null;
  if (one.places.length * other.places.length === 1) return null;
  const said = (values: Matrix | undefined): string => (values?.[i]?.[j] ?? 0).toFixed(3);
  const [value, inMean] = [said(table.weights[head]), said(mean(table.weights))];
  return { row: one.text, column: other.text, value, mean: inMean };
}
