// The address of the page says everything that is seen, so that a view can be sent to someone.
import { KINDS, type Kind } from "./trace";
import type { Reading } from "./table";

export const VIEWS = [
  "look",
  "arithmetic",
  "switchboard",
  "blocks",
  "generate",
  "compare",
  "training",
  "report",
  "lesson",
] as const;
export type View = (typeof VIEWS)[number];
export const LANGUAGES = ["en", "zh"] as const;
export type Language = (typeof LANGUAGES)[number];
export const BLOCKS = ["positions", "masks", "norms", "scores"] as const;
export type Block = (typeof BLOCKS)[number];
export const FORMS = [
  "passages",
  "matrix",
  "lines",
  "alignment",
  "steps",
  "overview",
  "positions",
  "pictures",
  "gazes",
] as const;
export type Form = (typeof FORMS)[number];
export const EXAMPLES = ["zh-en", "en-fr"] as const;
export type Example = (typeof EXAMPLES)[number];
/** Recorded sentences that are worth seeing side by side. */
export const PAIRS = ["fr-models", "fr-wide", "zh-wide"] as const;
export type Pair = (typeof PAIRS)[number];
/** Recorded texts of language models. */
export const STORIES = ["story-en", "story-zh", "gaps-en", "gaps-zh"] as const;
export type Story = (typeof STORIES)[number];

export interface Address {
  view: View;
  language: Language;
  theme: "auto" | "light" | "dark";
  isLarge: boolean;
  /** null is the one that goes with the model */
  example: Example | null;
  model: string | null;
  text: string | null;
  target: string | null;
  pair: Pair | null;
  /** of the right side of a comparison; null is the same as on the left */
  otherModel: string | null;
  otherText: string | null;
  otherTarget: string | null;
  /** null is that of the page's language */
  story: Story | null;
  writer: string | null;
  prompt: string | null;
  /** 0 takes the most probable token */
  temperature: number;
  topK: number;
  topP: number;
  /** the most tokens to write, and the most words to find */
  most: number;
  found: number;
  site: Kind;
  layer: number | null;
  /** null is the mean of all */
  head: number | null;
  /** those whose mean is shown; none are all */
  heads: readonly number[];
  form: Form;
  merges: boolean;
  hidesSpecial: boolean;
  reading: Reading | null;
  /** places of tokens, whatever is merged */
  row: number | null;
  column: number | null;
  step: number;
  isLecture: boolean;
  off: readonly string[];
  /** training runs by name; none are those that the page chooses */
  runs: readonly string[];
  /** of the curves; null is time where all that are shown have a budget of it */
  axis: "updates" | "time" | null;
  /** in percent */
  smooth: number;
  /** an update whose weights are looked at; null is the last there is */
  moment: number | null;
  sentence: string | null;
  block: Block;
  length: number;
  width: number;
  seed: number;
  /** how often somebody has asked, which no address says: what was refused can be asked for again */
  times: number;
}

export const usual = (language: Language): Address => ({
  view: "look",
  language,
  theme: "auto",
  isLarge: false,
  example: null,
  model: null,
  text: null,
  target: null,
  pair: null,
  otherModel: null,
  otherText: null,
  otherTarget: null,
  story: null,
  writer: null,
  prompt: null,
  temperature: 0.8,
  topK: 0,
  topP: 1,
  most: 60,
  found: 5,
  site: "cross",
  layer: null,
  head: null,
  heads: [],
  form: "matrix",
  merges: true,
  hidesSpecial: false,
  reading: null,
  row: null,
  column: null,
  step: 6,
  isLecture: false,
  off: [],
  runs: [],
  axis: null,
  smooth: 60,
  moment: null,
  sentence: null,
  block: "positions",
  length: 32,
  width: 64,
  seed: 1,
  times: 0,
});

const among = <T extends string>(allowed: readonly T[], said: string | null): T | undefined =>
  allowed.find((one) => one === said);

function whole(said: string | null, least: number, most: number): number | null {
  if (said === null || !/^\d{1,6}$/.test(said)) return null;
  return Math.min(most, Math.max(least, Number(said)));
}

function share(said: string | null, least: number, most: number): number | null {
  if (said === null || !/^\d{1,3}(\.\d{1,4})?$/.test(said)) return null;
  return Math.min(most, Math.max(least, Number(said)));
}

const HEAD = /^(encoder|decoder|cross)\.\d{1,3}\.\d{1,3}$/;

/** What the part of the address after "#" asks for; what it does not know, it passes over. */
export function parse(hash: string, browser: Language): Address {
  const [path = "", query = ""] = hash.replace(/^#?\/?/, "").split("?", 2);
  const said = new URLSearchParams(query);
  const get = (name: string): string | null => said.get(name);
  const language = among(LANGUAGES, get("lang")) ?? browser;
  const base = usual(language);
  const most = 1_000_000;
  return {
    ...base,
    view: among(VIEWS, path) ?? base.view,
    theme: among(["auto", "light", "dark"], get("theme")) ?? base.theme,
    isLarge: get("large") === "1",
    example: among(EXAMPLES, get("example")) ?? base.example,
    model: get("model"),
    text: get("text"),
    target: get("target"),
    pair: among(PAIRS, get("pair")) ?? base.pair,
    otherModel: get("model2"),
    otherText: get("text2"),
    otherTarget: get("target2"),
    story: among(STORIES, get("story")) ?? base.story,
    writer: get("writer"),
    prompt: get("prompt"),
    temperature: share(get("temperature"), 0, 2) ?? base.temperature,
    topK: whole(get("topk"), 0, most) ?? base.topK,
    topP: share(get("topp"), 0.05, 1) ?? base.topP,
    most: whole(get("most"), 1, 1024) ?? base.most,
    found: whole(get("found"), 1, 20) ?? base.found,
    site: among(KINDS, get("site")) ?? base.site,
    layer: whole(get("layer"), 0, most),
    head: whole(get("head"), 0, most),
    heads: (get("heads") ?? "").split(",").flatMap((one) => whole(one, 0, most) ?? []),
    form: among(FORMS, get("form")) ?? base.form,
    merges: get("words") !== "0",
    hidesSpecial: get("special") === "0",
    reading: among<Reading>(["predicting", "reading"], get("rows")) ?? null,
    row: whole(get("row"), 0, most),
    column: whole(get("column"), 0, most),
    step: whole(get("step"), 1, 6) ?? base.step,
    isLecture: get("preset") === "lecture",
    off: (get("off") ?? "").split(",").filter((name) => HEAD.test(name)),
    runs: said.getAll("run").slice(0, 20),
    axis: among<"updates" | "time">(["updates", "time"], get("axis")) ?? null,
    smooth: whole(get("smooth"), 0, 95) ?? base.smooth,
    moment: whole(get("moment"), 0, most),
    sentence: get("sentence"),
    block: among(BLOCKS, get("block")) ?? base.block,
    length: whole(get("length"), 2, 128) ?? base.length,
    width: (whole(get("width"), 2, 256) ?? base.width) & ~1,
    seed: whole(get("seed"), 0, most) ?? base.seed,
  };
}

/** The address again; what is usual is left out. */
export function format(address: Address, browser: Language): string {
  const base = usual(address.language);
  const query = new URLSearchParams();
  const put = (name: string, value: string | number | null, isUsual: boolean): void => {
    if (!isUsual && value !== null) query.set(name, String(value));
  };
  put("lang", address.language, address.language === browser);
  put("theme", address.theme, address.theme === base.theme);
  put("large", 1, !address.isLarge);
  put("example", address.example, false);
  put("model", address.model, false);
  put("text", address.text, false);
  put("target", address.target, false);
  put("pair", address.pair, false);
  put("model2", address.otherModel, false);
  put("text2", address.otherText, false);
  put("target2", address.otherTarget, false);
  put("story", address.story, false);
  put("writer", address.writer, false);
  put("prompt", address.prompt, false);
  put("temperature", address.temperature, address.temperature === base.temperature);
  put("topk", address.topK, address.topK === base.topK);
  put("topp", address.topP, address.topP === base.topP);
  put("most", address.most, address.most === base.most);
  put("found", address.found, address.found === base.found);
  put("site", address.site, address.site === base.site);
  put("layer", address.layer, false);
  put("head", address.head, false);
  put("heads", address.heads.join(","), address.heads.length === 0);
  put("form", address.form, address.form === base.form);
  put("words", 0, address.merges);
  put("special", 0, !address.hidesSpecial);
  put("rows", address.reading, false);
  put("row", address.row, false);
  put("column", address.column, false);
  put("preset", "lecture", !address.isLecture);
  put("step", address.step, address.step === base.step);
  put("off", address.off.join(","), address.off.length === 0);
  for (const run of address.runs) query.append("run", run);
  put("axis", address.axis, false);
  put("smooth", address.smooth, address.smooth === base.smooth);
  put("moment", address.moment, false);
  put("sentence", address.sentence, false);
  put("block", address.block, address.block === base.block);
  put("length", address.length, address.length === base.length);
  put("width", address.width, address.width === base.width);
  put("seed", address.seed, address.seed === base.seed);
  const said = query.toString();
  return `#/${address.view}${said ? `?${said}` : ""}`;
}

/** Where a page opens that is saved here: what was asked for is in it, and its reader's language. */
export const startOf = (address: Address): string =>
  format(
    {
      ...address,
      ...{ example: null, model: null, text: null, pair: null, story: null, writer: null },
      ...{ otherModel: null, otherText: null, otherTarget: null, prompt: null },
    },
    address.language,
  );
