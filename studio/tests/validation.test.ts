import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { inflateSync } from "node:zlib";
import { SCHEMAS, type TraceDocument } from "../src/contract";
import { labels } from "../src/table";
import { NotATrace, TooNew, checkedTrace, traceFromText } from "../src/trace";
import { traceFromBytes } from "../src/trace_file";
import { isOf } from "../src/validation";
import { near } from "./near";

const bytes = (content: Uint8Array): ArrayBuffer => new Uint8Array(content).buffer;
const file = readFileSync("tests/picture.trace");
const text = readFileSync("tests/picture.json", "utf8");
const document = (): TraceDocument => JSON.parse(text) as TraceDocument;

test("a picture is read from a file as from JSON", () => {
  const [fromFile, fromText] = [traceFromBytes(bytes(file)), traceFromText(text)];
  assert.equal(fromFile.format, 2);
  assert.deepEqual(fromFile.picture?.grid, [2, 3]);
  assert.deepEqual(fromFile.picture?.boxes, fromText.picture?.boxes);
  near(fromFile.sites[0]?.weights, fromText.sites[0]?.weights, 1e-6);
  const { source } = fromFile;
  const cells = labels(source, source.tokens, true);
  assert.deepEqual(
    cells.map(({ text, is_special }) => [text, is_special]),
    ["0,0", "0,1", "0,2", "1,0", "1,1", "1,2"].map((name) => [name, false]),
  );
});

test("its pixels become a PNG", () => {
  const png = Buffer.from(traceFromBytes(bytes(file)).picture?.png ?? "", "base64");
  const at = png.indexOf("IDAT");
  const data = inflateSync(png.subarray(at + 4, at + 4 + png.readUInt32BE(at - 4)));
  const rows = Array.from({ length: 5 }, (_, i) => [...data.subarray(28 * i, 28 * (i + 1))]);
  const expected = rows.map((_, i) => [0, ...Array.from({ length: 27 }, (_, j) => 27 * i + j)]);
  assert.deepEqual(rows, expected);
  assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [9, 5]);
});

/** A document with one value changed, wherever it stands. */
function changed(path: readonly (string | number)[], value: unknown): unknown {
  const whole = document() as unknown as Record<string | number, unknown>;
  const last = path[path.length - 1] ?? "";
  const place = path
    .slice(0, -1)
    .reduce((one, name) => one[name] as Record<string | number, unknown>, whole);
  if (value === undefined) delete place[last];
  else place[last] = value;
  return whole;
}

const CROOKED: readonly (readonly [readonly (string | number)[], unknown])[] = [
  [["format"], 0],
  [["format"], "2"],
  [["source"], "a picture"],
  [["source", "tokens", 0, "id"], 1.5],
  [["source", "tokens", 0, "text"], undefined],
  [["source", "tokens"], {}],
  [["target", "tokens", 0, "word"], 99],
  [["target", "tokens", 0, "word"], -1],
  [["target", "words", 0], null],
  [["target", "first"], { id: 2 }],
  [["sites"], null],
  [["sites", 0, "kind"], "sideways"],
  [["sites", 0, "kind"], "__proto__"],
  [["sites", 0, "is_uniform"], []],
  [["sites", 0, "weights", 0, 0, 0], Number.NaN],
  [["sites", 0, "weights", 0, 0, 0], Number.POSITIVE_INFINITY],
  [["sites", 0, "weights", 0, 0, 0], "0.5"],
  [["sites", 0, "weights", 0, 0], [1]],
  [["sites", 0, "weights", 0], []],
  [["sites", 0, "weights"], []],
  [["steps", 0, "log_probability"], null],
  [["steps", 0, "alternatives", 0], "<img src=x>"],
  [["steps"], []],
  [["provenance", "model"], 7],
  [["aligning"], "1"],
  [["does"], "run"],
  [["does"], "fill"],
  [["depths", "encoder"], "deep"],
  [["picture", "grid"], [6]],
  [
    ["picture", "grid"],
    [3, 3],
  ],
  [
    ["picture", "grid"],
    [2, 3, 1],
  ],
  [
    ["picture", "boxes", 0],
    [0, 0, 1],
  ],
  [["picture", "boxes"], []],
  [["picture", "png"], "javascript:alert(1)"],
  [["picture", "png"], "iVBO\nRw0K"],
  [["picture"], []],
];

for (const [path, value] of CROOKED) {
  test(`${path.join(".")} = ${String(value)} is refused`, () => {
    assert.throws(() => checkedTrace(changed(path, value)), NotATrace);
  });
}

test("every key that is needed is needed", () => {
  const needed = SCHEMAS.TraceDocument.required;
  for (const name of needed)
    assert.throws(() => checkedTrace(changed([name], undefined)), NotATrace);
  assert.ok(needed.length >= 8);
  assert.doesNotThrow(() => checkedTrace(changed(["does"], undefined)));
  assert.throws(() => checkedTrace(changed(["format"], 3)), TooNew);
});

test("what a document says besides is passed over", () => {
  const told = text.replace("{", '{"__proto__":{"format":99},"ablation":{"heads":[]},');
  assert.deepEqual(traceFromText(told).source, document().source);
  assert.equal(traceFromText(told).format, 2);
});

test("what is no object at all is refused", () => {
  for (const value of [null, undefined, 1, "", [], [[]], new Map(), () => 1]) {
    assert.throws(() => checkedTrace(value), NotATrace);
  }
  assert.throws(() => traceFromText("[".repeat(1_000_000)), NotATrace);
});

/** A file with another header; its arrays are those of the picture's trace. */
function refiled(change: (header: Record<string, { shape: number[] }>, said: unknown) => void) {
  const length = Number(file.readBigUInt64LE(0));
  const header = JSON.parse(file.subarray(8, 8 + length).toString()) as Record<string, never>;
  const metadata = header.__metadata__ as unknown as Record<string, string>;
  const said: unknown = JSON.parse(metadata["regard.trace"] ?? "");
  change(header, said);
  metadata["regard.trace"] = JSON.stringify(said);
  const written = Buffer.from(JSON.stringify(header));
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(written.length));
  return bytes(Buffer.concat([size, written, file.subarray(8 + length)]));
}

const BENT: Record<string, (header: Record<string, any>, said: any) => void> = {
  "weights of another shape": (header) => header["cross.1"].shape.reverse(),
  "weights without a shape": (header) => delete header["cross.1"].shape,
  "weights of another type": (header) => (header["cross.1"].dtype = "I32"),
  "weights beyond the file": (header) => (header["cross.1"].data_offsets[0] = 1e15),
  "weights before the file": (header) => {
    const [from, to] = header["cross.1"].data_offsets as [number, number];
    header["cross.1"].data_offsets = [from - 1e6, to - 1e6];
  },
  "no weights": (header) => delete header["cross.1"],
  "a picture that is not one": (header) => (header.picture.shape = [45, 3]),
  "a picture of floats": (header) => (header.picture.dtype = "F16"),
  "no picture": (header) => delete header.picture,
  "an endless grid": (_, said) => (said.picture.grid = [1e9, 1e9]),
  "a grid of none": (_, said) => (said.picture.grid = [-2, -3]),
  "a layer of no number": (_, said) => (said.sites[0].layer = "__proto__"),
};

for (const [name, change] of Object.entries(BENT)) {
  test(`a file with ${name} is refused`, () => {
    assert.throws(() => traceFromBytes(refiled(change)), NotATrace);
  });
}

test("a file is read as it is, and half of its bytes are not", () => {
  assert.doesNotThrow(() => traceFromBytes(refiled(() => undefined)));
  for (let n = 0; n < file.length; n += 97) {
    assert.throws(() => traceFromBytes(bytes(file.subarray(0, n))), NotATrace);
  }
  const header = 8 + Number(file.readBigUInt64LE(0));
  const entries = JSON.parse(file.subarray(8, header).toString()) as Record<string, never>;
  const [from] = (entries["cross.1"] as unknown as { data_offsets: [number] }).data_offsets;
  const damaged = Buffer.from(file);
  damaged.writeUInt32LE(0x7fc00000, header + from); // not a number
  assert.throws(() => traceFromBytes(bytes(damaged)), NotATrace);
});

test("a million weights are checked, and one of them that is none is found", () => {
  const row = Array.from({ length: 1000 }, () => 0.001);
  const weights = [Array.from({ length: 1000 }, () => [...row])];
  const site = { ...document().sites[0], weights };
  assert.ok(isOf("SiteDocument", site, SCHEMAS));
  weights[0]?.[999]?.splice(999, 1, Number.NaN);
  assert.ok(!isOf("SiteDocument", site, SCHEMAS));
});

test("a name that there is no schema of is a mistake of ours", () => {
  assert.throws(() => isOf("Nothing", {}, SCHEMAS), /no schema Nothing/);
});
