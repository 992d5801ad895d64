// What a language model is asked: how a story begins and how it is drawn, or a text with gaps.
import type { JSX } from "preact";
import { type Address, STORIES } from "../address";
import type { Model } from "../api";
import { Card, Choice, Draft, Names, Slider } from "../controls";
import { MASK } from "../trace";
import { useUntilAsked } from "../until_asked";
import type { Say } from "../words";
import { type Writing, chosenStory, chosenWriter, writersOf } from "../writing";

interface Props {
  address: Address;
  go: (change: Partial<Address>) => void;
  say: Say;
  models: readonly Model[];
  writing: Writing;
  open: (file: File) => void;
  close: () => void;
  isFile: boolean;
}

const FREE = { row: null, column: null, layer: null, head: null } as const;

export function GenerateAsking(props: Props): JSX.Element {
  const { address, go, say, models, writing, open, close, isFile } = props;
  const model = chosenWriter(address, models);
  return (
    <Card name="asking">
      {model === null ? (
        <p class="notice">
          {say(isFile ? "fileHolds" : "noWriter")} <code>regard serve MODEL</code>
        </p>
      ) : (
        <Question {...props} model={model} />
      )}
      <div class="tools">
        <Choice
          label={say(model === null ? "examples" : "recordings")}
          options={STORIES.map((one) => [one, say(one)] as const)}
          chosen={
            writing.isRecorded && !isFile ? chosenStory(address) : ("" as (typeof STORIES)[number])
          }
          choose={(story) => {
            close();
            go({ ...FREE, prompt: null, story });
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

function Question(props: Props & { model: Model }): JSX.Element {
  const { address, go, say, models, writing, model, close } = props;
  const able = writersOf(models);
  const isWriter = model.does === "write";
  const usual = say(isWriter ? "usualPrompt" : "usualGaps");
  const asked = address.prompt ?? usual;
  const [draft, setDraft] = useUntilAsked(asked, asked);
  const submit = (more: Partial<Address> = {}): void => {
    close();
    const writer = address.writer === model.name ? model.name : null;
    go({ ...FREE, story: null, prompt: draft, writer, times: address.times + 1, ...more });
  };
  return (
    <form
      class="telling"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Draft
        label={say(isWriter ? "prompt" : "gapped")}
        text={draft}
        set={(text) => setDraft(() => text)}
        submit={submit}
      />
      <div class="actions">
        <Names
          label={say("model")}
          names={able.map((one) => one.name)}
          chosen={model.name}
          choose={(writer) => {
            close();
            go({ ...FREE, prompt: null, story: null, writer });
          }}
        />
        {writing.pieces !== null ? (
          <button type="button" class="main" onClick={writing.stop}>
            {say("stop")}
          </button>
        ) : (
          <button type="submit" class="main" disabled={writing.isBusy}>
            {say(isWriter ? "write" : "fill")}
          </button>
        )}
        {!isWriter && (
          <button type="button" onClick={() => setDraft((before) => `${before}${MASK}`)}>
            {MASK}
          </button>
        )}
      </div>
      <div class="tools dials">
        {isWriter ? (
          <>
            <Slider
              text={say("temperature")}
              value={address.temperature}
              least={0}
              most={2}
              by={0.1}
              set={(temperature) => go({ temperature })}
            />
            <Slider
              text="top-k"
              value={address.topK}
              least={0}
              most={100}
              set={(topK) => go({ topK })}
            />
            <Slider
              text="top-p"
              value={address.topP}
              least={0.05}
              most={1}
              by={0.05}
              set={(topP) => go({ topP })}
            />
            <Slider
              text={say("storyLength")}
              value={address.most}
              least={5}
              most={120}
              by={5}
              set={(most) => go({ most })}
            />
            <span class="slider">
              <span class="soft">{say("seed")}</span> <output>{address.seed}</output>
              <button type="button" onClick={() => submit({ seed: address.seed + 1 })}>
                {say("another")}
              </button>
            </span>
          </>
        ) : (
          <Slider
            text={say("nWords")}
            value={address.found}
            least={1}
            most={20}
            set={(found) => go({ found })}
          />
        )}
      </div>
    </form>
  );
}
