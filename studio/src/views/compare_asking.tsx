// What is compared: two sentences or two models where some are served, recorded pairs, files.
import type { JSX } from "preact";
import { PAIRS, type Address, type Pair } from "../address";
import type { Model } from "../api";
import { type Comparing, type Place, isRecorded } from "../comparing";
import { Card, Choice, Draft, Names, Toggle } from "../controls";
import { chosenPair, fits, isForeign, modelOf, wantedOf } from "../fitting";
import { useUntilAsked } from "../until_asked";
import type { Say } from "../words";

interface Props {
  address: Address;
  go: (change: Partial<Address>) => void;
  say: Say;
  models: readonly Model[];
  comparing: Comparing;
}

const FREE = {
  target: null,
  otherTarget: null,
  row: null,
  column: null,
  layer: null,
  head: null,
} as const;

const NEITHER = { text: null, otherText: null, model: null, otherModel: null } as const;

export function CompareAsking({ address, go, say, models, comparing }: Props): JSX.Element {
  const { halves, open, close } = comparing;
  const areRecorded = halves.every((half) => half !== null && isRecorded(half));
  return (
    <Card name="asking">
      {models.length > 0 ? (
        <Questions {...{ address, go, say, models, comparing }} />
      ) : (
        <p class="notice">
          {say(halves.some((half) => half?.file) ? "fileHolds" : "noPair")}{" "}
          <code>regard serve MODEL</code>
        </p>
      )}
      <div class="tools">
        <Choice
          label={say(models.length === 0 ? "examples" : "recordings")}
          options={PAIRS.map((one) => [one, say(one)] as const)}
          chosen={
            areRecorded
              ? chosenPair(address, modelOf(models, address.model) ?? models[0])
              : ("" as Pair)
          }
          choose={(pair) => {
            close();
            const site = pair === "fr-models" ? "cross" : "encoder";
            go({ ...FREE, ...NEITHER, pair, site });
          }}
        />
        <span class="opening">
          <span class="soft">{say("drop")}</span>
          {([0, 1] as const).map((place) => (
            <label key={place}>
              <input
                type="file"
                onChange={(event) => {
                  const file = event.currentTarget.files?.[0];
                  if (file) open(file, place);
                }}
              />
              <span class="button">{say(place === 0 ? "left" : "right")}</span>
            </label>
          ))}
          <span class="soft">{say("dropTwo")}</span>
        </span>
      </div>
    </Card>
  );
}

function Questions({ address, go, say, models, comparing }: Props): JSX.Element {
  const { halves, isBusy, close } = comparing;
  const { text, otherText, pair, model, otherModel } = address;
  const isSameAsked = text !== null && otherText === null;
  const key = JSON.stringify([text, otherText, pair]);
  const [drafts, setDrafts] = useUntilAsked<readonly (string | null)[]>(key, [null, null]);
  const who = JSON.stringify([model, otherModel, isSameAsked]);
  const served = (name: string | null): string | null =>
    name !== null && modelOf(models, name) ? name : null;
  const first = [served(model), served(otherModel ?? model)];
  const [names, setNames] = useUntilAsked(who, first);
  const [isSame, setSame] = useUntilAsked(who, isSameAsked && models.length > 1);
  const asked = [text, otherText ?? text];
  const chosen = (place: Place): Model | undefined => modelOf(models, names[place] ?? null);
  const texts = ([0, 1] as const).map((place) => {
    const half = halves[place];
    const told = half?.trace.source.text ?? "";
    const recorded = half !== null && isRecorded(half) ? half.trace.provenance.model : "";
    const offered = recorded === "" || fits(chosen(place), recorded) ? told : "";
    // An example goes with the model that it was asked of.
    const isOther = names[place] !== first[place] && isForeign(asked[place] ?? "", chosen(place));
    const usual = isOther ? "" : (asked[place] ?? offered);
    return drafts[place] ?? (half?.file ? told : usual);
  });
  const [one = "", other = ""] = texts.map((draft) => draft.trim());
  const isBlank = one === "" || (other === "" && !isSame);
  const submit = (): void => {
    if (isBlank) return;
    close();
    const [left = null, right = null] = names;
    const wish = { text: one, otherText: isSame ? null : other, times: address.times + 1 };
    go({ ...FREE, ...wish, model: left, otherModel: right });
  };
  const change = (place: Place, draft: string): void =>
    setDrafts((before) => before.map((one, i) => (i === place || isSame ? draft : one)));
  return (
    <form
      class="questions"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {([0, 1] as const).map((place) => (
        <div class="question" key={place}>
          <div class="tools">
            <h2>{say(place === 0 ? "left" : "right")}</h2>
            <Names
              label={`${say("model")} ${place + 1}`}
              names={models.map((model) => model.name)}
              chosen={names[place] ?? models[0]?.name}
              choose={(chosen) =>
                setNames((before) => before.map((name, i) => (i === place ? chosen : name)))
              }
            />
          </div>
          <Draft
            label={`${say("source")} ${place + 1}`}
            text={(isSame ? texts[0] : texts[place]) ?? ""}
            set={(draft) => change(place, draft)}
            submit={submit}
            wanted={wantedOf(chosen(place), address.language, say)}
          />
        </div>
      ))}
      <div class="tools">
        <button type="submit" class="main" disabled={isBusy || isBlank}>
          {isBusy ? say("comparing") : say("compareNow")}
        </button>
        {models.length > 1 && (
          <Toggle text={say("sameSentence")} isOn={isSame} set={(on) => setSame(() => on)} />
        )}
      </div>
    </form>
  );
}
