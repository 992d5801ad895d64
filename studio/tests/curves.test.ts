import assert from "node:assert/strict";
import test from "node:test";
import { labelled } from "../src/blocks/positions";
import { legendFigure, panelFigure, stepOf, ticks } from "../src/figures/curves";
import { textWidth } from "../src/scene";

const texts = (from: number, to: number, about = 4): string[] =>
  ticks(from, to, stepOf(to - from, about)).map(([, text]) => text);

test("the numbers beside an axis are round, and all written alike", () => {
  assert.deepEqual(texts(0, 0.001), ["0", "0.0005", "0.0010"]);
  assert.deepEqual(texts(0, 0.004), ["0", "0.001", "0.002", "0.003", "0.004"]);
  assert.deepEqual(texts(0, 15_000), ["0", "5k", "10k", "15k"]);
  assert.deepEqual(texts(0, 10_000), ["0", "5k", "10k"]);
  assert.deepEqual(texts(-0.4, 0.4), ["−0.4", "−0.2", "0", "0.2", "0.4"]);
  assert.deepEqual(texts(0, 3e-5), ["0", "1e−5", "2e−5", "3e−5"]);
  assert.deepEqual(texts(0, 7.9, 6), ["0", "2", "4", "6"]);
});

test("every mark below a panel has its number", () => {
  const { scene } = panelFigure({
    title: "loss",
    across: "updates",
    curves: [{ colour: "look", points: [[0, 1] as const, [400, 2] as const] }],
    range: [0, 400],
  });
  const said = scene.items.flatMap((item) => (item.kind === "text" ? [item.text] : []));
  for (const text of ["0", "100", "200", "300", "400", "updates"]) assert.ok(said.includes(text));
});

test("places are named at round numbers and at the last", () => {
  assert.deepEqual(labelled(64, 3), [0, 10, 20, 30, 40, 50, 60, 63]);
  assert.deepEqual(labelled(64, 4), [0, 10, 20, 30, 40, 50, 63]);
  assert.deepEqual(labelled(2, 0.3), [0, 1]);
  assert.deepEqual(labelled(1, 1), [0]);
  for (const count of [2, 3, 7, 32, 128, 256]) {
    const found = labelled(count, 2.5);
    assert.equal(found[0], 0);
    assert.equal(found.at(-1), count - 1);
    assert.ok(found.length <= 12);
  }
});

test("the legend names every run beside a line of its colour", () => {
  const { items, width } = legendFigure([
    { text: "slow", colour: "head0" },
    { text: "fast".repeat(50), colour: "head1" },
  ]);
  const [line, name, , long] = items;
  assert.ok(line?.kind === "path" && line.colour === "head0");
  assert.ok(name?.kind === "text" && name.text === "slow");
  assert.ok(long?.kind === "text" && long.text.endsWith("…"));
  assert.ok(long.x + textWidth(long.text, long.size) <= width);
});
