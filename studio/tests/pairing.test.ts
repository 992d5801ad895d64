import assert from "node:assert/strict";
import { test } from "node:test";
import { differenceOf, scaleOf, signedPercent } from "../src/figures/difference";
import { paired, turned } from "../src/pairing";
import type { Table } from "../src/table";

const words = (text: string): string[] => text.split(" ");

test("words are partners where both sentences have them, in order", () => {
  assert.deepEqual(paired(words("a b c"), words("a b c")), [0, 1, 2]);
  assert.deepEqual(paired(words("a b c"), words("x a c")), [1, null, 2]);
  assert.deepEqual(paired(words("a"), words("b c")), [null]);
  assert.deepEqual(paired([], words("a")), []);
});

test("a word in another's place is its partner, two in the place of one are not", () => {
  assert.deepEqual(paired(words("too tired ."), words("too wide .")), [0, 1, 2]);
  assert.deepEqual(paired(words("too tired ."), words("too far away .")), [0, null, 3]);
  assert.deepEqual(turned([0, null, 3], 4), [0, null, null, 2]);
});

const table = (rows: string, columns: string, weights: number[][]): Table => {
  const labelled = (text: string) =>
    words(text).map((one, i) => ({ text: one, places: [i], is_special: false }));
  return {
    kind: "cross",
    layer: 0,
    heads: [0],
    rows: labelled(rows),
    columns: labelled(columns),
    weights: [weights],
    reading: "predicting",
  };
};

test("the difference is the right side's weight minus the left's, of partners alone", () => {
  const left = table("x", "a b", [[0.25, 0.75]]);
  const right = table("x y", "a c b", [
    [0.5, 0.25, 0.25],
    [0, 1, 0],
  ]);
  const found = differenceOf(left, right);
  assert.deepEqual(found?.values, [[0.25, -0.5]]);
  assert.deepEqual(found?.columnPairs, [
    [0, 0],
    [1, 2],
  ]);
  assert.equal(found?.nLeftOut, 2);
  assert.equal(differenceOf(left, table("p q", "a", [[1], [1]])), null);
  const other = differenceOf(left, table("z", "a b", [[0.25, 0.75]]));
  assert.equal(other?.rows[0]?.text, "x / z");
});

test("the scale of differences ends at the largest, and does not blow up next to nothing", () => {
  assert.equal(scaleOf([[0.31, -0.52]]), 0.52);
  assert.equal(scaleOf([[0.31]], [[-0.7, 0.1]]), 0.7);
  assert.equal(scaleOf([[0.001, -0.002]]), 0.01);
  assert.deepEqual([-0.5, 0.004, 0.126].map(signedPercent), ["−50", "", "+13"]);
});
