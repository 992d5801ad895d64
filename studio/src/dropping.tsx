// A trace file that is dropped anywhere on the page opens.
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { Say } from "./words";

interface Props {
  open: (file: File) => void;
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
        const file = event.dataTransfer?.files[0];
        if (file) open(file);
      }}
    >
      {children}
      {isOver && <div class="dropping">{say("dropHere")}</div>}
    </div>
  );
}
