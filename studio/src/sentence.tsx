// A sentence of a trace, word by word; each can be pointed at, and all can be copied as text.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { type Pointed, isTouch } from "./pointing";
import { type Label, labels } from "./table";
import { type Trace, nGiven } from "./trace";
import type { Say } from "./words";

interface Props {
  title: string;
  trace: Trace;
  side: "source" | "target";
  pointed: Pointed | null;
  point: (pointed: Pointed | null) => void;
  merges: boolean;
  /** words that stand out, by their place among the labels */
  marks?: (index: number) => boolean;
  /** what is said of a word that the model does not know */
  unknown: string;
}

/** A label as it stands in a text: what is before it, and how it is written there. */
interface Written {
  gap: string;
  /** nothing where the label stands for no text of its own, as </s> does */
  text: string | null;
}

/** Between words stands what stands there in the sentence, so that a copy is the sentence. */
export function writtenOut(text: string, found: readonly Label[]): readonly Written[] {
  // Offsets count characters, as Python does; some characters are two units of JavaScript's.
  const characters = Array.from(text);
  let at = 0;
  return found.map(({ span }) => {
    if (span === undefined || span[0] < at) return { gap: "", text: null };
    const whole = characters.slice(...span).join("");
    const own = whole.trimStart();
    const before = characters.slice(at, span[0]).join("");
    at = span[1];
    const gap = before + whole.slice(0, whole.length - own.length);
    return { gap, text: own === "" ? null : own };
  });
}

export function Sentence(props: Props): JSX.Element {
  const { title, trace, side, pointed, point, merges, marks, unknown } = props;
  const sentence = trace[side];
  const found = useMemo(() => labels(sentence, sentence.tokens, merges), [sentence, merges]);
  const written = useMemo(() => writtenOut(sentence.text, found), [sentence, found]);
  // Of a text that goes on from a prompt, what was given is the source, and told there.
  const isOutput = (label: Label): boolean =>
    side === "source" || label.places.some((place) => place >= nGiven(trace));
  const isPointed = (label: Label): boolean =>
    pointed?.side === side && label.places.some((place) => pointed.places.includes(place));
  const classOf = (label: Label, i: number): string =>
    [
      "word",
      label.is_special ? "special" : "",
      label.is_unknown ? "unknown" : "",
      isPointed(label) ? "pointed" : "",
      marks?.(i) ? "differs" : "",
      written[i]?.text === null ? "uncopied" : "",
      label.text.startsWith("·") && written[i]?.text !== null ? "joined" : "",
    ]
      .filter((one) => one)
      .join(" ");
  return (
    <div class="sentence">
      <h2>{title}</h2>
      <p
        onPointerLeave={(event) => {
          if (!isTouch(event)) point(null);
        }}
      >
        {found.map(
          (label, i) =>
            isOutput(label) && (
              <>
                {written[i]?.gap}
                <span
                  key={label.places[0]}
                  class={classOf(label, i)}
                  {...(label.is_unknown ? { title: unknown } : {})}
                  onPointerEnter={() => point({ side, places: label.places })}
                  onClick={() => point({ side, places: label.places })}
                >
                  {written[i]?.text ?? label.text}
                </span>
              </>
            ),
        )}
      </p>
    </div>
  );
}

/** The same while its translation is on its way: nothing can be pointed at yet. */
export function PlainSentence({ title, text }: { title: string; text: string }): JSX.Element {
  return (
    <div class="sentence">
      <h2>{title}</h2>
      <p class="partial" aria-live="polite">
        {text || "…"}
      </p>
    </div>
  );
}

interface UnknownProps {
  words: readonly { text: string }[];
  say: Say;
}

/** Which words the model's vocabulary lacks, each once; nothing if there are none. */
export function UnknownWords({ words, say }: UnknownProps): JSX.Element | null {
  const all = [...new Set(words.map((word) => word.text))];
  if (all.length === 0) return null;
  return (
    <p class="unknown-words">
      {say("unknownWords", { words: all.join(say("and")), n: all.length })}
    </p>
  );
}
