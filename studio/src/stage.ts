// What the views are given: the address, how to change it, what is shown, and how it looks.
import type { Address } from "./address";
import { type Model, type Sight, traceOf, vectorsOf } from "./api";
import type { Theme } from "./colours";
import type { AblateAnswer, RankedText } from "./contract";
import type { Held, KeptSentence, Retraces } from "./inlined";
import type { Trace } from "./trace";
import type { Say } from "./words";

export interface Shown {
  trace: Trace;
  hypotheses: readonly RankedText[];
  /** only of a recorded sentence */
  canned: KeptSentence | null;
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

/** All that a saved page needs of a translation; a served model is asked for its vectors. */
export async function heldOf(shown: Shown, ablation?: AblateAnswer): Promise<readonly Held[]> {
  const { trace, hypotheses, canned, sight } = shown;
  const sites =
    canned?.sites ??
    (sight === null || trace.picture ? [] : await vectorsOf(sight).catch(() => []));
  const more = ablation === undefined ? {} : { [nameOfHeads(ablation.heads)]: ablation };
  const ablations = { ...canned?.ablations, ...more };
  const retraces = canned?.retraces ?? (await retraced(shown, ablation?.heads ?? []));
  return [{ trace, hypotheses, sites, ablations, retraces }];
}

/** Where a served model looks with these heads off. */
async function retraced({ trace, sight }: Shown, off: readonly string[]): Promise<Retraces> {
  if (sight === null || off.length === 0) return {};
  const after = await traceOf({ ...sight, off }).catch(() => null);
  return after === null ? {} : { [nameOfHeads(off)]: { before: trace, after } };
}

/** The name under which the ablation of these heads is kept. */
export const nameOfHeads = (heads: readonly string[]): string => [...heads].sort().join(",");

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
