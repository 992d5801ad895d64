import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { EXAMPLES, usual } from "../src/address";
import type { Model } from "../src/api";
import {
  begun,
  chosenExample,
  chosenPair,
  fits,
  sentenceOf,
  unknownOf,
  wantedOf,
} from "../src/fitting";
import { type Say, say } from "../src/words";

const model = (name: string, source: string | null, does: Model["does"] = "translate"): Model => ({
  name,
  does,
  reads: "texts",
  source_language: source,
  target_language: null,
  kind: null,
  recipe: null,
  parameters: null,
  vocabulary: null,
  heads: {},
});
const [english, chinese]: readonly [Say, Say] = [
  (word, places) => say("en", word, places),
  (word, places) => say("zh", word, places),
];

test("a recorded sentence fits a model that reads its language, and no other", () => {
  assert.ok(fits(model("a", "zh"), "zh-en-wide"));
  assert.ok(!fits(model("a", "zh"), "en-fr"));
  assert.ok(!fits(model("a", null), "zh-en"));
  assert.ok(!fits(model("a", "e"), "en-fr"));
  assert.ok(!fits(undefined, "zh-en"));
});

test("examples go with the model unless another is asked for", () => {
  const address = usual("en");
  const chosen = (source: string | null) => [
    chosenExample(address, model("a", source)),
    chosenPair(address, model("a", source)),
  ];
  assert.deepEqual(chosen("zh"), ["zh-en", "zh-wide"]);
  assert.deepEqual(chosen("en"), ["en-fr", "fr-wide"]);
  assert.deepEqual(chosen("de"), ["zh-en", "fr-models"]);
  assert.equal(chosenPair(address, undefined), "fr-models");
  assert.equal(chosenExample({ ...address, example: "en-fr" }, model("a", "zh")), "en-fr");
  assert.equal(chosenPair({ ...address, pair: "fr-models" }, model("a", "zh")), "fr-models");
});

test("an empty box says what it is for", () => {
  assert.equal(wantedOf(model("a", "de"), "en", english), "A sentence in German");
  assert.equal(wantedOf(model("a", "de"), "zh", chinese), "请输入德语句子");
  assert.equal(wantedOf(model("a", null), "en", english), "A sentence to translate");
  assert.equal(wantedOf(model("a", null, "write"), "en", english), "How the story begins");
  assert.equal(wantedOf(model("a", null, "fill"), "zh", chinese), "带空缺的句子");
});

test("a name that no model has is told, with those there are", () => {
  const models = [model("a", "de"), model("b", null)];
  assert.equal(
    unknownOf(models, [null, "c"], english),
    "There is no model “c” here: choose one of a, b.",
  );
  assert.equal(unknownOf(models, ["b", null], english), null);
  assert.equal(unknownOf([], ["c"], english), null);
  assert.equal(unknownOf(null, ["c"], english), null);
});

test("a served model begins with the example in its language, unless something is asked for", () => {
  const address = usual("en");
  const [zh, de, gpt] = [model("a", "zh"), model("b", "de"), model("c", "zh", "write")];
  assert.equal(begun(address, [zh]).text, sentenceOf("zh-en"));
  assert.equal(begun({ ...address, model: "a" }, [de, zh]).text, sentenceOf("zh-en"));
  for (const models of [null, [], [de], [gpt], [de, zh]]) {
    assert.equal(begun(address, models), address);
  }
  for (const asked of [{ text: "x" }, { example: "en-fr" }, { model: "nosuch" }] as const) {
    const told = { ...address, ...asked };
    assert.equal(begun(told, [zh]), told);
  }
  const pair = begun({ ...address, view: "compare" }, [zh]);
  assert.equal(pair.text, sentenceOf("zh-en"));
  assert.notEqual(pair.otherText, null);
});

test("the sentences that are recorded are those of the list", () => {
  for (const example of EXAMPLES) {
    const recorded = JSON.parse(
      readFileSync(`../regard/serving/recorded/canned.${example}.json`, "utf8"),
    ) as { trace: { source: { text: string } } };
    assert.equal(recorded.trace.source.text, sentenceOf(example));
  }
});
