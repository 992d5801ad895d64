// Who may look where: true = may attend; combined with "and".

export type Mask = readonly (readonly boolean[])[];

const square = (n: number, allows: (query: number, key: number) => boolean): Mask =>
  Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => allows(i, j)));

export const causal = (n: number): Mask => square(n, (query, key) => key <= query);

export const window_ = (n: number, reach: number): Mask =>
  square(n, (query, key) => Math.abs(query - key) <= reach);

export const padding = (n: number, nReal: number): Mask => square(n, (_, key) => key < nReal);

export const everything = (n: number): Mask => square(n, () => true);

export const both = (a: Mask, b: Mask): Mask =>
  a.map((row, i) => row.map((allowed, j) => allowed && (b[i]?.[j] ?? false)));
