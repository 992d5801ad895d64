// A word that is pointed at, in a sentence or a picture, and where it stands in the other.
import { type Label, type Reading, labelAt } from "./table";
import type { Kind } from "./trace";

/** A word that is pointed at, by the places of its tokens. */
export interface Pointed {
  side: "source" | "target";
  /** places among the target's tokens as they were written */
  places: readonly number[];
  /** where it stands both among rows and columns: which of the two was meant */
  end?: "row" | "column";
}

export interface Ends {
  row: number | null;
  column: number | null;
}

export const NOWHERE: Ends = { row: null, column: null };

/** Which row and column of the table a word is. */
export function endsOf(
  pointed: Pointed | null,
  kind: Kind,
  reading: Reading,
  rows: readonly Label[],
  columns: readonly Label[],
): Ends {
  const place = pointed?.places[0] ?? null;
  if (pointed === null || place === null) return NOWHERE;
  const isColumn = pointed.end === "column";
  if (pointed.side === "source") {
    if (kind === "encoder") {
      return isColumn
        ? { row: null, column: labelAt(columns, place) }
        : { row: labelAt(rows, place), column: null };
    }
    return { row: null, column: kind === "cross" ? labelAt(columns, place) : null };
  }
  if (kind === "encoder") return NOWHERE;
  if (kind === "decoder" && isColumn) return { row: null, column: labelAt(columns, place + 1) };
  return { row: labelAt(rows, reading === "predicting" ? place : place + 1), column: null };
}

/** The other way round: the word of a row or column. */
export function wordOf(
  end: "row" | "column",
  label: Label,
  kind: Kind,
  reading: Reading,
): Pointed | null {
  const isSource = kind === "encoder" || (kind === "cross" && end === "column");
  if (isSource) return { side: "source", places: label.places, end };
  const back = end === "column" || reading === "reading" ? 1 : 0;
  const places = label.places.map((place) => place - back).filter((place) => place >= 0);
  return places.length > 0 ? { side: "target", places, end } : null;
}

let last = "mouse"; // not every browser says of a click what it was made with
globalThis.addEventListener?.("pointerdown", (event) => (last = event.pointerType), true);

/** Whether a finger does it, which cannot point without touching. */
export const isTouch = (event: MouseEvent): boolean =>
  (event instanceof PointerEvent && event.type !== "click" ? event.pointerType : last) === "touch";

/** Whether one can point here without touching. */
export const hasHover = (): boolean => !matchMedia("(hover: none)").matches;
