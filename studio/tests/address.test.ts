import assert from "node:assert/strict";
import { test } from "node:test";
import { format, parse, usual } from "../src/address";
import { COLOURS, ENOUGH, contrast, rampTable, readable, shade } from "../src/colours";
import { type Say, WORDS, say, sayHeads } from "../src/words";
import { shortened, textWidth } from "../src/scene";
import fixture from "./fixture.json";
import { near } from "./near";

test("an address that says nothing is the usual one", () => {
  assert.deepEqual(parse("", "en"), usual("en"));
  assert.equal(format(usual("zh"), "zh"), "#/look");
  assert.equal(format(usual("zh"), "en"), "#/look?lang=zh");
});

test("whatever is written can be read again", () => {
  const address = {
    ...usual("zh"),
    view: "arithmetic" as const,
    theme: "dark" as const,
    isLarge: true,
    text: "a & b ? # 动物",
    site: "encoder" as const,
    layer: 0,
    head: 3,
    merges: false,
    hidesSpecial: true,
    reading: "reading" as const,
    row: 2,
    column: 0,
    step: 3,
    isLecture: true,
    off: ["cross.1.0", "encoder.0.2"],
    block: "scores" as const,
    seed: 7,
    pair: "zh-wide" as const,
    otherModel: "m & n",
    otherText: "另一个 = 句子",
    otherTarget: "",
    story: "gaps-zh" as const,
    writer: "w",
    prompt: " once\nupon",
    temperature: 0.7,
    topK: 9,
    topP: 0.85,
    most: 30,
    found: 7,
  };
  assert.deepEqual(parse(format(address, "en"), "en"), address);
});

test("an address from a stranger does no harm", () => {
  const found = parse(
    "#/nowhere?site=moon&layer=-1&off=cross.1.0,<b>&width=9999&step=0&lang=xx",
    "en",
  );
  assert.equal(found.view, "look");
  assert.equal(found.site, "cross");
  assert.equal(found.layer, null);
  assert.deepEqual(found.off, ["cross.1.0"]);
  assert.equal(found.width, 256);
  assert.equal(found.step, 1);
  assert.equal(found.language, "en");
});

test("colours and shades are those of Regard's pictures; widths follow the script", () => {
  assert.deepEqual(COLOURS, fixture.colours);
  for (const [name, told] of Object.entries(fixture.ramps)) {
    const [theme, ramp] = name.split(".") as ["light", "weights"];
    near(rampTable(theme, ramp), told, 1);
  }
  assert.deepEqual([shade(0, 0, 1), shade(0.5, 0, 1), shade(2, 0, 1)], [0, 128, 255]);
  assert.equal(textWidth("机器学习", 10), 40);
  assert.ok(textWidth("iiii", 10) < textWidth("mmmm", 10) / 2);
  assert.equal(shortened("attention", 30, 10), "atte…");
});

test("numbers can be read on every shade", () => {
  for (const theme of ["light", "dark"] as const) {
    for (const ramp of ["weights", "signed"] as const) {
      rampTable(theme, ramp).forEach((ground, place) => {
        const ink = readable(theme, ramp, place);
        const shade = [1, 3, 5].map((i) => Number.parseInt(ink.slice(i, i + 2), 16));
        assert.ok(
          contrast([shade[0] ?? 0, shade[1] ?? 0, shade[2] ?? 0], ground) >= ENOUGH,
          `${theme} ${ramp} ${place}`,
        );
      });
    }
  }
});

test("every word is there in both languages, and fills its places", () => {
  for (const [name, [english, chinese]] of Object.entries(WORDS)) {
    assert.ok(english.trim() && chinese.trim(), name);
    const places = (text: string): string[] => (text.match(/\{\w+\}/g) ?? []).sort();
    assert.deepEqual(places(english), places(chinese), name);
  }
  assert.equal(say("en", "layer", { n: 2 }), "layer 2");
});

test("one is said otherwise than many, in both languages", () => {
  assert.equal(say("en", "leftOut", { n: 2 }).split(" ").slice(0, 2).join(" "), "2 words");
  assert.match(say("en", "leftOut", { n: 1 }), /^1 word without .* is left out\.$/);
  assert.equal(say("en", "total", { value: "-1", n: 1 }), "log P = -1 over 1 step");
  assert.equal(say("zh", "leftOut", { n: 1 }), "有 1 个词在另一边没有对应，未列出。");
  const english: Say = (word, places) => say("en", word, places);
  const chinese: Say = (word, places) => say("zh", word, places);
  assert.equal(sayHeads(english, null, 8), "mean of 8 heads");
  assert.equal(sayHeads(english, null, 8, true), "all 8 heads, a colour each");
  assert.equal(sayHeads(english, 3, 8), "head 3");
  for (const isLines of [false, true]) {
    assert.equal(sayHeads(english, null, 1, isLines), "its only head");
    assert.equal(sayHeads(chinese, null, 1, isLines), "唯一的头");
  }
});
