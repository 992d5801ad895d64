import assert from "node:assert/strict";
import test from "node:test";
import { binned, lookedAt, passagesOf, runsOf } from "../src/passages";
import { type Label } from "../src/table";

const text = Array.from({ length: 100 }, (_, i) => `词${i}`).join(" ");
const words: Label[] = [];
let at = 0;
for (const [i, word] of text.split(" ").entries()) {
  words.push({ text: word, places: [i], is_special: false, span: [at, at + word.length] });
  at += word.length + 1;
}
const sentence = { text, words: [], tokens: [] } as unknown as Parameters<typeof runsOf>[0];
const weights = words.map((_, i) => (i === 70 ? 0.5 : i === 20 ? 0.1 : 0.001));

test("runs are all of the text, and those looked at stand alone", () => {
  const runs = runsOf(sentence, words, weights);
  assert.equal(runs.map((run) => run.text).join(""), text);
  const shown = runs.filter((run) => run.level > 0).map((run) => [run.text.trim(), run.level]);
  assert.deepEqual(shown, [
    ["词20", 2],
    ["词70", 8],
  ]);
});

test("passages come by their weight, with what stands around them", () => {
  const [first, second] = passagesOf(sentence, words, weights, 2);
  assert.equal(first?.word, 70);
  assert.ok(first?.text.startsWith("词64") && first.text.endsWith("词76"));
  assert.equal(second?.word, 20);
});

test("all words together show the most that any of them gave", () => {
  const heads = [[[0.2, 0.8], [0.6, 0.4]], [[0.4, 0.6], [0.2, 0.8]]]; // prettier-ignore
  const two = words.slice(0, 2);
  const near = (found: readonly number[], wanted: readonly number[]): void =>
    found.forEach((one, i) => assert.ok(Math.abs(one - (wanted[i] ?? 0)) < 1e-9));
  near(lookedAt(heads, two, [0]), [0.3, 0.7]);
  near(lookedAt(heads, two, null), [0.4, 0.7]);
});

test("a strip keeps the largest weight, however short or long the text", () => {
  assert.deepEqual(binned([0, 1, 0, 3], 2), [1, 3]);
  assert.deepEqual(binned([1, 2], 4), [1, 1, 2, 2]);
});
