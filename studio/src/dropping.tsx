// A trace file that is dropped anywhere on the page opens.
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { Say } from "./words";

interface Props {
  /** what was dropped, and whether on the right half of the page */
  open: (files: readonly File[], isRight: boolean) => void;
  say: Say;
  children: ComponentChildren;
}

export function Dropping({ open, say, children }: Props): JSX.Element {
  const [isOver, setOver] = useState(false);
  return (
    <div
      class="page"
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={(event) => {
        if (event.relatedTarget === null) setOver(false);
      }}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const isRight = event.clientX > event.currentTarget.clientWidth / 2;
        open([...(event.dataTransfer?.files ?? [])], isRight);
      }}
    >
      {children}
      {isOver && <div class="dropping">{say("dropHere")}</div>}
    </div>
  );
}
