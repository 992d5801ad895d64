import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { placed, storyFigure } from "../src/figures/story";
import { mostLooked, storyLooks, storyWords } from "../src/story_table";
import { siteOf } from "../src/trace";
import { traceFromBytes } from "../src/trace_file";
import { near } from "./near";

const read = (name: string) => {
  const bytes = readFileSync(`../regard/serving/recorded/canned.${name}.trace`);
  return traceFromBytes(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
};

test("the words of a story and what stands between them are its text", () => {
  for (const name of ["story-en", "story-zh", "gaps-en", "gaps-zh"]) {
    const trace = read(name);
    const text = trace.does === "fill" ? trace.source.text : trace.target.text;
    const words = storyWords(trace, true).filter((word) => !word.is_special);
    assert.equal(words.map((word) => word.gap + word.text).join(""), text.trimEnd());
  }
});

test("the odds of the words that were written are those of all steps", () => {
  const trace = read("story-en");
  const words = storyWords(trace, true);
  const nGiven = trace.source.tokens.length - 1;
  assert.equal(words.filter((word) => word.isGiven).length, 7);
  const steps = trace.steps.slice(nGiven).reduce((sum, step) => sum + step.log_probability, 0);
  const all = words.reduce((sum, word) => sum + (word.logProbability ?? 0), 0);
  near([all], [steps], 1e-9);
});

test("of a word that the prompt began only the written tokens count", () => {
  const whole = read("story-en");
  const source = { ...whole.source, tokens: whole.source.tokens.slice(0, 3) }; // The animal didn
  const word = storyWords({ ...whole, source }, true).find(({ text }) => text === "didn't");
  assert.deepEqual(word?.places, [2, 3, 4]);
  const [quote, t] = whole.steps.slice(2, 4).map((step) => step.log_probability);
  near([word?.logProbability ?? 0], [(quote ?? 0) + (t ?? 0)], 1e-9);
  assert.equal(word?.isGiven, false);
});

test("a word was written from where the one before it stands", () => {
  const trace = read("story-en");
  const site = siteOf(trace, "decoder", 0);
  assert.ok(site);
  const written = storyLooks(trace, site, 1, "predicting", false);
  const whenRead = storyLooks(trace, site, 1, "reading", false);
  near(written[9] ?? [], [...(site.weights[1]?.[8] ?? []), 0], 1e-9);
  near(whenRead[8] ?? [], written[9] ?? [], 1e-9);
  assert.ok((written[0] ?? []).every((weight) => weight === 0));
  const merged = storyLooks(trace, site, null, "predicting", true);
  for (const row of merged.slice(1)) {
    near([row.reduce((sum, one) => sum + one, 0)], [1], 2e-3); // half precision
  }
});

test("the most looked at come first, and lines of a picture end where its width does", () => {
  assert.deepEqual(mostLooked([0.1, 0.001, 0.6, 0.3], 2), [2, 3]);
  const words = storyWords(read("story-en"), true);
  const places = placed(words, 400);
  assert.ok(places.every((at) => at.x + at.width <= 400));
  const scene = storyFigure(words, null, 3, "story", 1);
  assert.ok(scene.items.some((item) => item.kind === "rectangle"));
});
