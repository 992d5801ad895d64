// What of a trace the address asks for, brought within what the trace has.
import type { Address } from "./address";
import { type Reading, usualReading } from "./table";
import { type Kind, type Site, type Trace, defaultLayer, kindsOf, siteOf } from "./trace";

export interface Chosen {
  kind: Kind;
  layer: number;
  /** null is the mean of all */
  head: number | null;
  reading: Reading;
  /** nothing if the model never looks in this way */
  site: Site | undefined;
}

type Asked = Pick<Address, "site" | "layer" | "head" | "reading">;

export function chosenIn(
  trace: Trace,
  address: Asked,
  kind: Kind = chosenKind(trace, address),
): Chosen {
  const layer =
    address.layer !== null && siteOf(trace, kind, address.layer)
      ? address.layer
      : defaultLayer(trace, kind);
  const site = siteOf(trace, kind, layer);
  const head =
    address.head !== null && site && address.head < site.weights.length ? address.head : null;
  const reading = kind === "encoder" ? usualReading(kind) : (address.reading ?? usualReading(kind));
  return { kind, layer, head, reading, site };
}

/** What the rows of a picture are, and how one of its cells is told. */
export const rowsOf = (kind: Kind, reading: Reading): "lookingFrom" | Reading =>
  kind === "encoder" ? "lookingFrom" : reading;

const TELLING = {
  lookingFrom: "cellSaid",
  predicting: "cellPredicting",
  reading: "cellReading",
} as const;

export const tellingOf = (kind: Kind, reading: Reading): (typeof TELLING)[keyof typeof TELLING] =>
  TELLING[rowsOf(kind, reading)];

export function chosenKind(trace: Trace, address: Pick<Address, "site">): Kind {
  const kinds = kindsOf(trace);
  return kinds.includes(address.site) ? address.site : (kinds.at(-1) ?? "cross");
}
