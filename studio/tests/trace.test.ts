import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { RecordedSentence } from "../src/contract";
import { type Label, labelAt, madeWhole, mean, strongest, tableOf } from "../src/table";
import { NotATrace, TooNew, checkedTrace, defaultLayer, siteOf, traceFromText } from "../src/trace";
import { half, traceFromBytes } from "../src/trace_file";
import fixture from "./fixture.json";
import { near } from "./near";

const canned = (name: string): RecordedSentence =>
  JSON.parse(
    readFileSync(`../regard/serving/recorded/canned.${name}.json`, "utf8"),
  ) as RecordedSentence;
const bytes = (content: Buffer): ArrayBuffer =>
  content.buffer.slice(content.byteOffset, content.byteOffset + content.length) as ArrayBuffer;
const file = readFileSync("tests/en-fr.trace");

test("a trace file says the same as the trace's JSON", () => {
  const fromFile = traceFromBytes(bytes(file));
  const fromText = checkedTrace(canned("en-fr").trace);
  assert.deepEqual(fromFile.source, fromText.source);
  assert.deepEqual(fromFile.steps.length, fromText.steps.length);
  fromFile.sites.forEach((site, i) => near(site.weights, fromText.sites[i]?.weights, 1e-6));
});

test("what is no trace is refused", () => {
  assert.throws(() => traceFromText("{"), NotATrace);
  assert.throws(() => traceFromText("[]"), NotATrace);
  assert.throws(() => traceFromText('{"format": 99}'), TooNew);
  assert.throws(() => traceFromBytes(bytes(file.subarray(0, 12))), NotATrace);
  assert.throws(() => traceFromBytes(bytes(file.subarray(0, file.length - 1))), NotATrace);
  const { trace } = canned("zh-en");
  assert.throws(() => checkedTrace({ ...trace, steps: trace.steps.slice(1) }), NotATrace);
  const crooked = trace.sites.map((site) => ({ ...site, weights: [[[1]]], is_uniform: [false] }));
  assert.throws(() => checkedTrace({ ...trace, sites: crooked }), NotATrace);
});

test("numbers of 16 bits", () => {
  assert.deepEqual([0x3c00, 0xc000, 0x3555, 0x0001, 0x0000, 0x7c00].map(half), [
    1,
    -2,
    0.333251953125,
    2 ** -24,
    0,
    Number.POSITIVE_INFINITY,
  ]);
});

/** A label as Python has it. */
const plain = ({ text, places, is_special }: Label) => ({ text, places, is_special });

test("tables are those of Regard, merged or not, predicting or reading", () => {
  const trace = traceFromBytes(bytes(file));
  for (const told of fixture.tables) {
    const site = siteOf(trace, told.kind as "cross", 1);
    assert.ok(site);
    const wish = { reading: told.reading as "reading", merges: told.merges };
    const table = tableOf(trace, site, wish);
    assert.deepEqual(table.rows.map(plain), told.rows);
    assert.deepEqual(table.columns.map(plain), told.columns);
    near(mean(table.weights), told.mean, 2e-6);
    const bare = tableOf(trace, site, { ...wish, hidesSpecial: true });
    near(mean(bare.weights.map(madeWhole)), told.whole, 2e-6);
  }
});

test("places and labels", () => {
  const trace = traceFromBytes(bytes(file));
  assert.equal(defaultLayer(trace, "cross"), trace.aligning);
  assert.equal(defaultLayer(trace, "encoder"), 1);
  const site = siteOf(trace, "encoder", 0);
  assert.ok(site);
  const { rows, columns } = tableOf(trace, site);
  assert.equal(rows[labelAt(rows, 4) ?? -1]?.text, "didn't");
  assert.equal(labelAt(rows, null), null);
  assert.equal(labelAt(rows, 99), null);
  const [row, column] = [rows[2], columns[5]];
  assert.ok(row && column);
  assert.ok(row.places.length > 1 && column.places.length > 1);
  const weights = site.weights[0] ?? [];
  const [i, j] = strongest(weights, row, column);
  for (const a of row.places) {
    for (const b of column.places) assert.ok((weights[a]?.[b] ?? 0) <= (weights[i]?.[j] ?? 0));
  }
});
