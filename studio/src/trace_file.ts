// A trace file: safetensors, whose header holds everything but the arrays as one JSON text.
import { NotATrace, type Trace, checkedTrace, traceFromText } from "./trace";

const KEY = "regard.trace";
const MOST_HEADER = 100_000_000;

interface Entry {
  dtype: string;
  shape: number[];
  data_offsets: [number, number];
}

type Header = Record<string, Entry> & { __metadata__?: Record<string, string> };

/** A number of 16 bits: sign, five of exponent, ten of fraction. */
export function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * 2 ** -14 * (fraction / 1024);
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * 2 ** (exponent - 15) * (1 + fraction / 1024);
}

function numbers(view: DataView, entry: Entry, start: number): number[] {
  const [from, to] = entry.data_offsets;
  const width = entry.dtype === "F32" ? 4 : entry.dtype === "F16" ? 2 : 0;
  const count = entry.shape.reduce((product, size) => product * size, 1);
  if (width === 0 || to - from !== count * width || start + to > view.byteLength) {
    throw new NotATrace();
  }
  return Array.from({ length: count }, (_, i) => {
    const at = start + from + i * width;
    return width === 4 ? view.getFloat32(at, true) : half(view.getUint16(at, true));
  });
}

function folded(flat: readonly number[], shape: readonly number[]): unknown {
  if (shape.length <= 1) return flat;
  const [count = 0, ...rest] = shape;
  const size = flat.length / (count || 1);
  return Array.from({ length: count }, (_, i) =>
    folded(flat.slice(i * size, (i + 1) * size), rest),
  );
}

/** The trace in a file's bytes, binary or JSON. */
export function traceFromBytes(bytes: ArrayBuffer): Trace {
  const view = new DataView(bytes);
  const first = bytes.byteLength > 0 ? view.getUint8(0) : 0;
  const isJson = first === 0x7b && (bytes.byteLength < 16 || view.getUint8(8) !== 0x7b);
  if (isJson) return traceFromText(new TextDecoder().decode(bytes));
  if (bytes.byteLength < 16) throw new NotATrace();
  const length = Number(view.getBigUint64(0, true));
  if (length > MOST_HEADER || 8 + length > bytes.byteLength) throw new NotATrace();
  try {
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 8, length))) as Header;
    const { __metadata__: words, ...entries } = header;
    const said = words?.[KEY];
    const end = Math.max(0, ...Object.values(entries).map((entry) => entry.data_offsets[1]));
    if (said === undefined || 8 + length + end !== bytes.byteLength) throw new NotATrace();
    const head = JSON.parse(said) as {
      sites: { kind: string; layer: number; weights?: unknown }[];
    };
    for (const site of head.sites) {
      const entry = header[`${site.kind}.${site.layer}`];
      if (entry === undefined) throw new NotATrace();
      site.weights = folded(numbers(view, entry, 8 + length), entry.shape);
    }
    return checkedTrace(head);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError || error instanceof RangeError) {
      throw new NotATrace();
    }
    throw error;
  }
}
