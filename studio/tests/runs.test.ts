import assert from "node:assert/strict";
import test from "node:test";
import type { RunAnswer } from "../src/contract";
import { newestOf } from "../src/runs";

const run = (name: string, state: RunAnswer["state"], silent: number): RunAnswer => ({
  name,
  state,
  silent,
  recipe: null,
  kind: null,
  measure: null,
  update: 0,
  updates: null,
  minutes: null,
  epoch: 0,
  seconds: 0,
  reason: null,
  chosen: null,
  moments: [],
});

test("the newest run is one that trains, or else the one that wrote last", () => {
  const over = [run("a", "finished", 300), run("b", "stopped", 2), run("c", "quiet", 200)];
  assert.equal(newestOf(over)?.name, "b");
  assert.equal(newestOf([...over, run("d", "training", 90)])?.name, "d");
  assert.equal(newestOf([]), undefined);
});
