// The pieces that models are made of, each a small live figure with its formula.
import type { JSX } from "preact";
import { type Address, BLOCKS } from "../address";
import { Masks } from "../blocks/masks";
import { Norms } from "../blocks/norms";
import { Positions } from "../blocks/positions";
import { Scores } from "../blocks/scores";
import type { Theme } from "../colours";
import { Choice } from "../controls";
import { savedPage } from "../inlined";
import type { Say } from "../words";

export interface BlockProps {
  address: Address;
  go: (change: Partial<Address>) => void;
  say: Say;
  theme: Theme;
  /** whether a service computes what is tried; null while that is not known */
  isServed: boolean | null;
}

const FIGURES = { positions: Positions, masks: Masks, norms: Norms, scores: Scores } as const;

export function BlocksView(props: BlockProps): JSX.Element {
  const { address, go, say } = props;
  const Figure = FIGURES[address.block];
  const saved = savedPage()?.blocks ?? null;
  return (
    <>
      <div class="intro">
        <Choice
          label={say("blocks")}
          isLabelHidden
          options={BLOCKS.map((block) => [block, say(block)] as const)}
          chosen={address.block}
          choose={(block) => go({ block })}
        />
        {props.isServed === false && saved === null && (
          <p class="notice">
            {say("recordedBlocks")} <code>regard serve MODEL</code>
          </p>
        )}
      </div>
      <Figure {...props} />
    </>
  );
}
