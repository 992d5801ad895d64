// A sentence of a trace, word by word; each can be pointed at.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Pointed } from "./pointing";
import { type Label, labels } from "./table";
import { type Trace, nGiven } from "./trace";

interface Props {
  title: string;
  trace: Trace;
  side: "source" | "target";
  pointed: Pointed | null;
  point: (pointed: Pointed | null) => void;
  merges: boolean;
  partial?: string | null;
  /** words that stand out, by their place among the labels */
  marks?: (index: number) => boolean;
}

export function Sentence(props: Props): JSX.Element {
  const { title, trace, side, pointed, point, merges, partial = null, marks } = props;
  const sentence = trace[side];
  const found = useMemo(() => labels(sentence, sentence.tokens, merges), [sentence, merges]);
  // Of a text that goes on from a prompt, what was given is the source, and told there.
  const isOutput = (label: Label): boolean =>
    side === "source" || label.places.some((place) => place >= nGiven(trace));
  const isPointed = (label: Label): boolean =>
    pointed?.side === side && label.places.some((place) => pointed.places.includes(place));
  const classOf = (label: Label, i: number): string =>
    "word" +
    (label.is_special ? " special" : "") +
    (isPointed(label) ? " pointed" : "") +
    (marks?.(i) ? " differs" : "");
  return (
    <div class="sentence">
      <h2>{title}</h2>
      {partial !== null ? (
        <p class="partial" aria-live="polite">
          {partial || "…"}
        </p>
      ) : (
        <p onPointerLeave={() => point(null)}>
          {found.map(
            (label, i) =>
              isOutput(label) && (
                <span
                  key={label.places[0]}
                  class={classOf(label, i)}
                  onPointerEnter={() => point({ side, places: label.places })}
                >
                  {label.text}
                </span>
              ),
          )}
        </p>
      )}
    </div>
  );
}
