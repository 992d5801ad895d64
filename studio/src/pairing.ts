// Which word of one sentence is which of another: the longest row of words they share, in order.

/** For each of the first, its place among the second; null if it has no partner there.
 *
 * Where as many words stand between two shared ones on both sides, they are partners as well: of
 * "too tired" and "too wide", the last. */
export function paired(one: readonly string[], other: readonly string[]): (number | null)[] {
  const shared = sharedWords(one, other);
  const found: (number | null)[] = one.map(() => null);
  let [i, j] = [0, 0];
  for (const [to, toOther] of [...shared, [one.length, other.length] as const]) {
    if (to - i === toOther - j) for (let k = 0; k < to - i; k++) found[i + k] = j + k;
    if (to < one.length) found[to] = toOther;
    [i, j] = [to + 1, toOther + 1];
  }
  return found;
}

/** The same asked from the other side. */
export function turned(places: readonly (number | null)[], count: number): (number | null)[] {
  const found: (number | null)[] = Array.from({ length: count }, () => null);
  places.forEach((place, i) => {
    if (place !== null) found[place] = i;
  });
  return found;
}

function sharedWords(
  one: readonly string[],
  other: readonly string[],
): readonly (readonly [number, number])[] {
  // lengths[i][j]: of the longest shared row from i and j on
  const lengths = Array.from({ length: one.length + 1 }, () => new Array(other.length + 1).fill(0));
  const at = (i: number, j: number): number => Number(lengths[i]?.[j] ?? 0);
  for (let i = one.length - 1; i >= 0; i--) {
    for (let j = other.length - 1; j >= 0; j--) {
      const row = lengths[i];
      if (row === undefined) continue;
      row[j] = one[i] === other[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const found: (readonly [number, number])[] = [];
  let [i, j] = [0, 0];
  while (i < one.length && j < other.length) {
    if (one[i] === other[j]) found.push([i++, j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  }
  return found;
}
