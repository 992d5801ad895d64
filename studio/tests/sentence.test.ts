import assert from "node:assert/strict";
import test from "node:test";
import { writtenOut } from "../src/sentence";
import { labels, unknownLabels } from "../src/table";
import type { Sentence } from "../src/trace";

const token = (id: number, text: string, start: number, end: number, word: number | null) => ({
  id,
  text,
  start,
  end,
  word,
});

const sentence: Sentence = {
  text: "😀 ab cd.",
  words: [
    { text: "😀", start: 0, end: 1 },
    { text: "ab", start: 2, end: 4 },
    { text: "cd", start: 5, end: 7 },
    { text: ".", start: 7, end: 8 },
  ],
  tokens: [
    token(9, "▁😀", 0, 1, 0),
    token(10, "▁a", 1, 3, 1),
    token(11, "b", 3, 4, 1),
    token(1, "▁cd", 4, 7, 2),
    token(12, ".", 7, 8, 3),
    token(3, "</s>", 8, 8, null),
  ],
};

test("a sentence is written out with what stands between its words", () => {
  for (const merges of [true, false]) {
    const found = labels(sentence, sentence.tokens, merges);
    const written = writtenOut(sentence.text, found);
    assert.equal(written.map(({ gap, text }) => gap + (text ?? "")).join(""), sentence.text);
    assert.equal(written.at(-1)?.text, null);
  }
});

test("words that the vocabulary lacks are known by their token", () => {
  assert.deepEqual(
    unknownLabels(sentence).map(({ text }) => text),
    ["cd"],
  );
  const bare = { ...sentence, tokens: sentence.tokens.filter(({ id }) => id !== 1) };
  assert.deepEqual(unknownLabels(bare), []);
});
