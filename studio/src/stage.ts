// What the views are given: the address, how to change it, what is shown, and how it looks.
import type { Address } from "./address";
import type { Model, Sight } from "./api";
import type { Theme } from "./colours";
import type { RankedText, RecordedSentence } from "./contract";
import type { Trace } from "./trace";
import type { Say } from "./words";

export interface Shown {
  trace: Trace;
  hypotheses: readonly RankedText[];
  /** only of a recorded sentence */
  canned: RecordedSentence | null;
  /** only of a served model: how to ask for the same again */
  sight: Sight | null;
  /** only of a file */
  file: string | null;
}

/** A sentence whose translation is on its way. */
export interface Pending {
  source: string;
  /** what is decoded so far */
  output: string;
}

export interface Stage {
  address: Address;
  go: (change: Partial<Address>) => void;
  say: Say;
  theme: Theme;
  shown: Shown;
  models: readonly Model[];
  /** what is asked for and not there yet, or null */
  pending: Pending | null;
}
