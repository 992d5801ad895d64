// A trace file: safetensors, whose header holds everything but the arrays as one JSON text.
import type { PictureDocument, PictureHeader } from "./contract";
import { pngOf } from "./png";
import { NotATrace, type Site, type Trace, checkedHeader, together, traceFromText } from "./trace";

const KEY = "regard.trace";
const MOST_HEADER = 100_000_000;

interface Entry {
  dtype: string;
  shape: number[];
  data_offsets: [number, number];
}

type Header = Record<string, Entry> & { __metadata__?: Record<string, string> };

/** Arrays by their names, as safetensors has them, and what is said beside them. */
export interface Tensors {
  said: Record<string, string>;
  arrays: Record<string, Tensor>;
}

export interface Tensor {
  shape: readonly number[];
  values: Float32Array | Uint8Array;
}

/** Numbers within numbers, as deep as the shape. */
export type Nested = readonly number[] | readonly Nested[];

/** A number of 16 bits: sign, five of exponent, ten of fraction. */
export function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * 2 ** -14 * (fraction / 1024);
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * 2 ** (exponent - 15) * (1 + fraction / 1024);
}

let table: Float32Array | null = null;

/** All numbers of 16 bits, by their bits: a large trace has millions of them. */
function halves(): Float32Array {
  table ??= Float32Array.from({ length: 0x10000 }, (_, bits) => half(bits));
  return table;
}

const WIDTHS: Record<string, number> = { F32: 4, F16: 2, U8: 1 };

function numbers(view: DataView, entry: Entry, start: number): Tensor["values"] {
  const [from, to] = entry.data_offsets;
  const width = WIDTHS[entry.dtype] ?? 0;
  const count = entry.shape.reduce((product, size) => product * size, 1);
  if (width === 0 || to - from !== count * width || start + to > view.byteLength) {
    throw new NotATrace();
  }
  // A copy, for an array of wider numbers may not begin anywhere.
  const bytes = view.buffer.slice(start + from, start + to) as ArrayBuffer;
  if (width === 1) return new Uint8Array(bytes);
  if (width === 4) return new Float32Array(bytes);
  const values = halves();
  return new Float32Array(new Uint16Array(bytes)).map((bits) => values[bits] ?? 0);
}

/** The array as numbers within numbers. */
export function nested({ values, shape }: Tensor): Nested {
  const inner = shape.at(-1) ?? 1;
  let parts: Nested[] = [];
  for (let at = 0; at < values.length; at += inner) {
    parts.push(Array.from(values.subarray(at, at + inner)));
  }
  for (const size of shape.slice(1, -1).reverse()) {
    const grouped: Nested[] = [];
    for (let at = 0; at < parts.length; at += size) grouped.push(parts.slice(at, at + size));
    parts = grouped;
  }
  return shape.length <= 1 ? Array.from(values) : parts;
}

/** The arrays of a safetensors file. */
export function tensorsFromBytes(bytes: ArrayBuffer): Tensors {
  if (bytes.byteLength < 16) throw new NotATrace();
  const view = new DataView(bytes);
  const length = Number(view.getBigUint64(0, true));
  if (length > MOST_HEADER || 8 + length > bytes.byteLength) throw new NotATrace();
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 8, length))) as Header;
  const { __metadata__: said = {}, ...entries } = header;
  const end = Math.max(0, ...Object.values(entries).map((entry) => entry.data_offsets[1]));
  if (8 + length + end !== bytes.byteLength) throw new NotATrace();
  const arrays = Object.fromEntries(
    Object.entries(entries).map(([name, entry]) => [
      name,
      { shape: entry.shape, values: numbers(view, entry, 8 + length) },
    ]),
  );
  return { said, arrays };
}

/** A whole number, halves to the even one, as Python rounds. */
function rounded(value: number): number {
  const below = Math.floor(value);
  const isUp = value - below > 0.5 || (value - below === 0.5 && below % 2 === 1);
  return isUp ? below + 1 : below;
}

/** The pixels of a file as a document has them: the boxes of the cells, and a PNG. */
function pictureOf(
  header: PictureHeader,
  nCells: number,
  array: Tensor | undefined,
): PictureDocument {
  const [height = 0, width = 0, colours, ...rest] = array?.shape ?? [];
  const [rows, columns] = header.grid;
  const isPicture = array?.values instanceof Uint8Array && colours === 3 && rest.length === 0;
  if (!isPicture || !(height > 0) || !(width > 0) || rows < 1 || rows * columns !== nCells) {
    throw new NotATrace();
  }
  const edge = (n: number, size: number, parts: number): number => rounded((n * size) / parts);
  const boxes = Array.from({ length: nCells }, (_, n) => {
    const [i, j] = [Math.floor(n / columns), n % columns];
    return [
      edge(j, width, columns),
      edge(i, height, rows),
      edge(j + 1, width, columns),
      edge(i + 1, height, rows),
    ] as const;
  });
  return { ...header, boxes, png: pngOf(array.values as Uint8Array, width, height) };
}

/** An array of so many dimensions whose every number is one. */
function finite(array: Tensor | undefined, n: number): Nested {
  if (array?.shape.length !== n || !array.values.every(Number.isFinite)) throw new NotATrace();
  return nested(array);
}

/** The trace that a header and its arrays make. */
function assembled(said: string, arrays: Tensors["arrays"]): Trace {
  const { sites, picture, crc32: _, ...rest } = checkedHeader(JSON.parse(said));
  const weighted = sites.map((site) => ({
    ...site,
    weights: finite(arrays[`${site.kind}.${site.layer}`], 3) as Site["weights"],
  }));
  const { positions } = arrays;
  return together({
    ...rest,
    sites: weighted,
    positions: positions === undefined ? null : (finite(positions, 2) as Trace["positions"] & {}),
    ...(picture ? { picture: pictureOf(picture, rest.source.tokens.length, arrays.picture) } : {}),
  });
}

/** The trace in a file's bytes, binary or JSON. */
export function traceFromBytes(bytes: ArrayBuffer): Trace {
  const view = new DataView(bytes);
  const first = bytes.byteLength > 0 ? view.getUint8(0) : 0;
  const isJson = first === 0x7b && (bytes.byteLength < 16 || view.getUint8(8) !== 0x7b);
  if (isJson) return traceFromText(new TextDecoder().decode(bytes));
  try {
    const { said, arrays } = tensorsFromBytes(bytes);
    const words = said[KEY];
    if (words === undefined) throw new NotATrace();
    return assembled(words, arrays);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError || error instanceof RangeError) {
      throw new NotATrace();
    }
    throw error;
  }
}

/** The arrays as a safetensors file. */
export function tensorsToBytes({ said, arrays }: Tensors): Uint8Array<ArrayBuffer> {
  let end = 0;
  const entries = Object.entries(arrays).map(([name, { shape, values }]) => {
    const from = end;
    end += values.byteLength;
    const dtype = values instanceof Uint8Array ? "U8" : "F32";
    return [name, { dtype, shape, data_offsets: [from, end] }] as const;
  });
  const header = JSON.stringify({ __metadata__: said, ...Object.fromEntries(entries) });
  const words = new TextEncoder().encode(header);
  const head = Math.ceil(words.length / 8) * 8; // numbers begin where eight bytes begin
  const bytes = new Uint8Array(8 + head + end);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(head), true);
  bytes.fill(0x20, 8, 8 + head);
  bytes.set(words, 8);
  let at = 8 + head;
  for (const { values } of Object.values(arrays)) {
    bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), at);
    at += values.byteLength;
  }
  return bytes;
}

/** Numbers within numbers as one array. */
export function flat(values: Nested): Tensor {
  const shape: number[] = [];
  for (let at: unknown = values; Array.isArray(at); at = at[0]) shape.push(at.length);
  const depth = Math.max(0, shape.length - 1);
  return { shape, values: Float32Array.from((values as unknown[]).flat(depth) as number[]) };
}

/** The content of a trace file; a picture, whose pixels are in a PNG, is written as JSON. */
export function traceToBytes(trace: Trace): Uint8Array<ArrayBuffer> {
  if (trace.picture) return new TextEncoder().encode(JSON.stringify(trace));
  const { sites, positions, picture: _, ...rest } = trace;
  const arrays: Record<string, Tensor> = {};
  for (const site of sites) arrays[`${site.kind}.${site.layer}`] = flat(site.weights);
  if (positions) arrays.positions = flat(positions);
  const heads = sites.map(({ kind, layer, is_uniform, sums_to_one }) => ({
    ...{ kind, layer, is_uniform, sums_to_one },
  }));
  return tensorsToBytes({ said: { [KEY]: JSON.stringify({ ...rest, sites: heads }) }, arrays });
}
