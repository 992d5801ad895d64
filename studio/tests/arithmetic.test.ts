import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { LECTURE, cellOf, lectureCell } from "../src/arithmetic";
import type { RecordedSentence } from "../src/contract";
import { siteOf } from "../src/trace";
import { near } from "./near";

const canned = (name: string): RecordedSentence =>
  JSON.parse(
    readFileSync(`../regard/serving/recorded/canned.${name}.json`, "utf8"),
  ) as RecordedSentence;

const total = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0);

test("the lectures' example comes out: 112 96 / 88 120, 14 12 / 11 15, 0.88 0.12 / 0.02 0.98", () => {
  const cells = [0, 1].map((row) => [0, 1].map((column) => lectureCell(row, column)));
  assert.deepEqual(
    cells.map((row) => row.map((cell) => cell.sum)),
    [
      [112, 96],
      [88, 120],
    ],
  );
  assert.deepEqual(cells[1]?.[0]?.scores, [11, 15]);
  near(cells[0]?.[1]?.weights, [0.8808, 0.1192], 1e-4);
  assert.equal(cells[0]?.[0]?.divisor, 8);
  assert.deepEqual(
    [cells[1]?.[0]?.row_token, cells[1]?.[0]?.column_token],
    [...LECTURE.words].reverse(),
  );
});

test("the numbers of every recorded cell belong together", () => {
  for (const { trace, sites } of [canned("zh-en"), canned("en-fr")]) {
    assert.equal(sites.length, trace.sites.length);
    for (const vectors of sites) {
      const weights = siteOf(trace, vectors.kind, vectors.layer)?.weights ?? [];
      weights.forEach((rows, head) =>
        rows.forEach((shares, row) => {
          const column = shares.indexOf(Math.max(...shares));
          const found = cellOf(vectors, weights, [head, row, column], { row: "", columns: [] });
          near(total(found.products ?? []), found.sum, 5e-3);
          near((found.sum ?? 0) / (found.divisor ?? 1), found.score, 1e-3);
          assert.equal(found.score, found.scores[column]);
          const powers = found.scores.map((one, j) => (found.may_see[j] ? Math.exp(one) : 0));
          near(
            powers.map((one) => one / total(powers)),
            found.weights,
            2e-3,
          );
          const width = found.context.length;
          const sums = Array.from({ length: width }, (_, d) =>
            total(found.values.map((value, j) => (found.weights[j] ?? 0) * (value[d] ?? 0))),
          );
          near(sums, found.context, 2e-3);
        }),
      );
    }
  }
});
