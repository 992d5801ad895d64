import type { JSX } from "preact";
import { Card } from "../controls";
import { sayError } from "../trouble";
import type { BlockProps } from "../views/blocks";

/** A block's card: its formula, what one may choose, and its figures when the numbers are there. */
export function Block<Numbers extends object>(
  props: Pick<BlockProps, "say"> & {
    title: string;
    lead: string;
    formula: JSX.Element | string;
    tools: JSX.Element | null;
    numbers: Numbers | Error | null;
    figures: (numbers: Numbers) => JSX.Element;
  },
): JSX.Element {
  const { say, title, lead, formula, tools, numbers, figures } = props;
  return (
    <Card title={title} lead={lead}>
      <p class="formula">{formula}</p>
      {tools && <div class="tools">{tools}</div>}
      {numbers instanceof Error ? (
        <p class="notice">{sayError(say, numbers)}</p>
      ) : numbers === null ? (
        <p class="soft">{say("loading")}</p>
      ) : (
        figures(numbers)
      )}
    </Card>
  );
}
