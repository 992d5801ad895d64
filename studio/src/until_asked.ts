// What is being typed or chosen, before it is asked for.
import { useState } from "preact/hooks";

/** A value that may be changed until something else is asked for; what arrives meanwhile leaves it. */
export function useUntilAsked<T>(asked: string, first: T): [T, (change: (before: T) => T) => void] {
  const [kept, keep] = useState({ asked, value: first });
  const of = (one: typeof kept): T => (one.asked === asked ? one.value : first);
  return [of(kept), (change) => keep((before) => ({ asked, value: change(of(before)) }))];
}
