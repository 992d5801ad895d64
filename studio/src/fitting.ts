// Which recorded sentence goes with a served model: one in the language that the model reads.
import texts from "../examples.json";
import { type Address, EXAMPLES, type Example, type Language, type Pair } from "./address";
import type { Model } from "./api";
import type { Say } from "./words";

/** Whether a recorded sentence, by its name as in "zh-en-wide", is what a model can be asked. */
export const fits = (model: Model | undefined, recorded: string): boolean =>
  typeof model?.source_language === "string" && recorded.startsWith(`${model.source_language}-`);

/** The example at the address, or the one that goes with the model. */
export const chosenExample = (address: Address, model: Model | undefined): Example =>
  address.example ?? EXAMPLES.find((one) => fits(model, one)) ?? "zh-en";

/** The same of a pair; two sentences where there is a model that can be asked for both. */
export const chosenPair = (address: Address, model: Model | undefined): Pair =>
  address.pair ??
  (fits(model, "zh-en") ? "zh-wide" : fits(model, "en-fr") ? "fr-wide" : "fr-models");

export const sentenceOf = (example: Example): string => texts[example];

/** The address with what is asked first: a served model begins with the example that it can read.
 *
 * Whoever chooses a recorded sentence gets it; a model of another language waits for a sentence. */
export function begun(address: Address, models: readonly Model[] | null): Address {
  if (address.text !== null || models === null) return address;
  const isPair = address.view === "compare";
  const able = isPair ? models : models.filter((model) => model.does === "translate");
  if (able.length === 0 || (isPair ? address.pair : address.example) !== null) return address;
  const model = modelOf(able, address.model);
  const example = EXAMPLES.find((one) => model?.does === "translate" && fits(model, one));
  if (example === undefined) return address;
  const text = sentenceOf(example);
  return isPair && address.otherText === null
    ? { ...address, text, otherText: texts[`${example}-wide`] }
    : { ...address, text };
}

/** Whether a text is an example that a model cannot read. */
export const isForeign = (text: string, model: Model | undefined): boolean =>
  Object.entries(texts).some(([name, one]) => one === text && !fits(model, name));

/** The model of that name, or the first; nothing if there is none of that name. */
export const modelOf = (models: readonly Model[], name: string | null): Model | undefined =>
  name === null ? models[0] : models.find((model) => model.name === name);

/** That one of these names is no model's, and which there are; nothing if all is well. */
export function unknownOf(
  models: readonly Model[] | null,
  names: readonly (string | null)[],
  say: Say,
): string | null {
  const known = models ?? [];
  const name = names.find((one) => one !== null && modelOf(known, one) === undefined);
  if (known.length === 0 || !name) return null;
  return say("noSuchModel", { name, names: known.map((one) => one.name).join(say("comma")) });
}

/** What stands in an empty box: what the model is to be given there. */
export function wantedOf(model: Model | undefined, language: Language, say: Say): string {
  if (model?.reads === "seeds") return say("anySeed");
  if (model?.does === "write") return say("prompt");
  if (model?.does === "fill") return say("gapped");
  const code = model?.source_language;
  if (!code) return say("anySentence");
  const names = new Intl.DisplayNames([language === "zh" ? "zh-CN" : "en"], { type: "language" });
  return say("sentenceIn", { language: names.of(code) ?? code });
}
