// What is compared: two sentences or two models where some are served, recorded pairs, files.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { PAIRS, type Address } from "../address";
import type { Model } from "../api";
import type { Comparing, Place } from "../comparing";
import { Card, Choice, Draft, Names, Toggle } from "../controls";
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
  const isRecorded = halves.every((half) => half?.sight === null && half.file === null);
  return (
    <Card name="asking">
      {models.length > 0 ? (
        <Questions {...{ address, go, say, models, comparing }} />
      ) : (
        <p class="notice">
          {say("noPair")} <code>regard serve MODEL</code>
        </p>
      )}
      <div class="tools">
        <Choice
          label={say("examples")}
          options={PAIRS.map((one) => [one, say(one)] as const)}
          chosen={isRecorded ? address.pair : ("" as Address["pair"])}
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
  const [drafts, setDrafts] = useState<readonly (string | null)[]>([null, null]);
  const [names, setNames] = useState([address.model, address.otherModel ?? address.model]);
  const isSameAsked = address.text !== null && address.otherText === null;
  const [isSame, setSame] = useState(isSameAsked);
  // What is being typed stays, whatever arrives meanwhile, until something else is asked for.
  useEffect(() => setDrafts([null, null]), [address.text, address.otherText, address.pair]);
  const asked = [address.text, address.otherText ?? address.text];
  const texts = ([0, 1] as const).map((place) => {
    const half = halves[place];
    const told = half?.trace.source.text ?? "";
    return drafts[place] ?? (half?.file ? told : (asked[place] ?? told));
  });
  useEffect(() => {
    setNames([address.model, address.otherModel ?? address.model]);
    setSame(isSameAsked && models.length > 1);
  }, [address.model, address.otherModel, isSameAsked]);
  const first = models[0]?.name ?? "";
  const submit = (): void => {
    const [text = "", other = ""] = texts.map((draft) => draft.trim());
    if (text === "" || (other === "" && !isSame)) return;
    close();
    const [model = null, otherModel = null] = names;
    go({ ...FREE, text, otherText: isSame ? null : other, model, otherModel });
  };
  const change = (place: Place, text: string): void =>
    setDrafts(drafts.map((draft, i) => (i === place || isSame ? text : draft)));
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
              chosen={names[place] ?? first}
              choose={(chosen) => setNames(names.map((name, i) => (i === place ? chosen : name)))}
            />
          </div>
          <Draft
            label={`${say("source")} ${place + 1}`}
            text={(isSame ? texts[0] : texts[place]) ?? ""}
            set={(text) => change(place, text)}
            submit={submit}
          />
        </div>
      ))}
      <div class="tools">
        <button type="submit" class="main" disabled={isBusy}>
          {isBusy ? say("comparing") : say("compareNow")}
        </button>
        {models.length > 1 && <Toggle text={say("sameSentence")} isOn={isSame} set={setSame} />}
      </div>
    </form>
  );
}
