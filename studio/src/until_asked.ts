// What is being typed or chosen, before it is asked for.
import { useEffect, useState } from "preact/hooks";

/** A value that may be changed until something else is asked for.
 *
 * Until it is changed it is the first, whatever that becomes; what arrives after leaves it. Whoever
 * comes back to what was asked before finds that, not what was typed there on the way to the next. */
export function useUntilAsked<T>(asked: string, first: T): [T, (change: (before: T) => T) => void] {
  const [kept, keep] = useState<{ asked: string; value: T } | null>(null);
  useEffect(() => () => keep((before) => (before?.asked === asked ? null : before)), [asked]);
  const of = (one: typeof kept): T => (one?.asked === asked ? one.value : first);
  return [of(kept), (change) => keep((before) => ({ asked, value: change(of(before)) }))];
}
