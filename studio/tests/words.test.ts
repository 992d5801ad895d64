import assert from "node:assert/strict";
import test from "node:test";
import { Refused } from "../src/api";
import { namePicture } from "../src/figures/pictured";
import { textWidth, wrapped } from "../src/scene";
import { sayError } from "../src/trouble";
import { type Say, say, sayNames } from "../src/words";

test("heads that are off are told layer by layer", () => {
  const english: Say = (word, places) => say("en", word, places);
  const chinese: Say = (word, places) => say("zh", word, places);
  const names = ["cross.1.10", "cross.1.2", "encoder.0.3"];
  assert.deepEqual(sayNames(english, names), [
    "Encoder self-attention, layer 0, head 3",
    "Attention to the source, layer 1, heads 2, 10",
  ]);
  assert.deepEqual(sayNames(chinese, names), [
    "编码器自注意力，第 0 层，第 3 头",
    "对原文的注意力，第 1 层，第 2、10 头",
  ]);
});

test("a long text is broken into lines that fit, and loses nothing", () => {
  for (const text of ["The animal didn't cross the street", "这只动物没有过马路，因为它太累了。"]) {
    const lines = wrapped(text, 120, 15);
    assert.ok(lines.length > 1);
    for (const line of lines) assert.ok(textWidth(line, 15) <= 120);
    assert.equal(lines.join(text.includes(" ") ? " " : ""), text);
  }
  assert.deepEqual(wrapped("incomprehensibilities", 20, 15), ["incomprehensibilities"]);
  assert.deepEqual(wrapped("", 20, 15), []);
});

test("a refusal is said in the page's language where its code is known", () => {
  const told = "2 sentences wait already";
  const english: Say = (word, places) => say("en", word, places);
  const chinese: Say = (word, places) => say("zh", word, places);
  assert.equal(sayError(english, new Refused(told, "busy")), told);
  assert.equal(sayError(chinese, new Refused(told, "busy")), `服务正忙，请稍后再试。（${told}）`);
  assert.equal(sayError(chinese, new Refused(told, "no-such-code")), told);
  assert.equal(sayError(chinese, new Error(told)), told);
});

test("pictures without a name of their own are called in the page's language", () => {
  const english: Say = (word, places) => say("en", word, places);
  const chinese: Say = (word, places) => say("zh", word, places);
  for (const text of [
    "a picture",
    "the picture of seed 3",
    "the picture of seed 3 of class T-shirt",
    "7.png",
  ])
    assert.equal(namePicture(english, text), text);
  assert.equal(namePicture(chinese, "the picture of seed 3"), "种子 3 画出的图片");
  assert.equal(
    namePicture(chinese, "the picture of seed 3 of class T-shirt"),
    "种子 3 画出的图片，类别 T-shirt",
  );
  assert.equal(namePicture(chinese, "7.png"), "7.png");
});
