// The sentence to translate: typed where a model is served, chosen among recorded ones elsewhere.
import type { JSX } from "preact";
import { EXAMPLES } from "../address";
import { isPictured } from "../api";
import { Card, Choice, Draft, Names } from "../controls";
import { chosenExample, fits, modelOf, wantedOf } from "../fitting";
import type { Shown, Stage } from "../stage";
import { useUntilAsked } from "../until_asked";

const FREE = { target: null, row: null, column: null, layer: null, head: null, off: [] } as const;

type Props = Omit<Stage, "shown" | "theme"> & {
  /** nothing until it is found, or if it was refused */
  shown: Shown | null;
  open: (file: File) => void;
  close: () => void;
};

export function Asking(props: Props): JSX.Element {
  const { address, go, say, shown, models, pending, open, close } = props;
  const model = modelOf(models, address.model) ?? models[0];
  const { text } = address;
  const example = chosenExample(address, model);
  const file = shown?.file ?? null;
  const seen = shown?.trace.source.text ?? "";
  const recorded = shown?.canned?.name ?? null;
  const offered = recorded === null || fits(model, recorded) ? seen : "";
  const told = isPictured(model) ? (text ?? "") : file === null ? (text ?? offered) : seen;
  const [draft, setDraft] = useUntilAsked(JSON.stringify([text, example, file]), told);
  const isServed = models.length > 0;
  const known = models.find((model) => model.name === address.model)?.name ?? null;
  const submit = (): void => {
    if (!draft.trim()) return;
    close();
    go({ ...FREE, example: null, text: draft.trim(), model: known, times: address.times + 1 });
  };
  return (
    <Card name="asking">
      {isServed ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          {model?.reads === "pictures" ? (
            <label class="opening">
              <input
                type="file"
                accept="image/*"
                onChange={(event) => {
                  const file = event.currentTarget.files?.[0];
                  if (file) open(file);
                  event.currentTarget.value = ""; // the same one may be chosen again
                }}
              />
              <span class="button main">{say("openPicture")}</span>{" "}
              <span class="soft">{say("dropHint")}</span>
            </label>
          ) : (
            <Draft
              label={say("source")}
              text={draft}
              set={(text) => setDraft(() => text)}
              submit={submit}
              wanted={wantedOf(model, address.language, say)}
            />
          )}
          <div class="actions">
            <Names
              label={say("model")}
              names={models.map((model) => model.name)}
              chosen={known ?? models[0]?.name}
              choose={(model) => go({ ...FREE, model, example: null })}
            />
            {model?.reads !== "pictures" && (
              <button type="submit" class="main" disabled={pending !== null || !draft.trim()}>
                {model?.reads === "seeds"
                  ? say("draw")
                  : say(pending === null ? "translate" : "translating")}
              </button>
            )}
          </div>
        </form>
      ) : (
        <p class="notice">
          {say(file === null ? "noModel" : "fileHolds")} <code>regard serve MODEL</code>
        </p>
      )}
      <div class="tools">
        <Choice
          label={say(isServed ? "recordings" : "examples")}
          options={EXAMPLES.map((one) => [one, say(one)] as const)}
          chosen={(shown?.canned ?? null) === null ? ("" as (typeof EXAMPLES)[number]) : example}
          choose={(example) => {
            close();
            go({ ...FREE, text: null, model: null, example });
          }}
        />
        <label class="opening">
          <input
            type="file"
            onChange={(event) => {
              const file = event.currentTarget.files?.[0];
              if (file) open(file);
            }}
          />
          <span class="button">{say("drop")}</span> <span class="soft">{say("dropHint")}</span>
        </label>
      </div>
    </Card>
  );
}
