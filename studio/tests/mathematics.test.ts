import assert from "node:assert/strict";
import { test } from "node:test";
import { computed } from "../src/mathematics/arithmetic";
import { lecture } from "../src/mathematics/lecture";
import { softmax } from "../src/mathematics/vectors";
import fixture from "./fixture.json";
import { near } from "./near";

test("the lectures' example comes out: 112 96 / 88 120, 14 12 / 11 15, 0.88 0.12 / 0.02 0.98", () => {
  const sums = [0, 1].map((row) => [0, 1].map((column) => lecture(row, column).sum));
  assert.deepEqual(sums, [
    [112, 96],
    [88, 120],
  ]);
  assert.equal(lecture(0, 0).divisor, 8);
  assert.deepEqual(
    [lecture(0, 0).scores, lecture(1, 0).scores],
    [
      [14, 12],
      [11, 15],
    ],
  );
});

test("every number of the example is that of Regard, in both heads", () => {
  const told = fixture.lecture;
  for (const head of [0, 1]) {
    for (const row of [0, 1]) {
      const found = lecture(row, 1, head);
      near(found.query, told.queries[head]?.[row], 1e-12);
      near(found.key, told.keys[head]?.[1], 1e-12);
      near(found.values, told.values[head], 1e-12);
      near(found.scores, told.scores[head]?.[row], 1e-12);
      near(found.weights, told.weights[head]?.[row], 1e-12);
      near(found.context, told.contexts[head]?.[row], 1e-12);
    }
  }
});

test("what may not be seen has no weight, and a row that sees nothing is zero", () => {
  const found = computed({
    query: [1, 2],
    keys: [
      [1, 0],
      [0, 1],
      [3, 3],
    ],
    values: [
      [1, 0, 0],
      [0, 1, 0],
      [0, 0, 1],
    ],
    maySee: [true, true, false],
    column: 1,
    rowLabel: "a",
    labels: ["a", "b", "c"],
  });
  assert.equal(found.weights[2], 0);
  near(found.context, found.weights, 1e-12);
  near(
    found.weights.reduce((sum, one) => sum + one, 0),
    1,
    1e-12,
  );
  assert.deepEqual(softmax([1, 2], [false, false]), [0, 0]);
});
