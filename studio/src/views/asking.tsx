// The sentence to translate: typed where a model is served, chosen among recorded ones elsewhere.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { EXAMPLES } from "../address";
import { Card, Choice } from "../controls";
import type { Stage } from "../stage";

const FREE = { target: null, row: null, column: null, layer: null, head: null, off: [] } as const;

export function Asking(
  stage: Stage & { open: (file: File) => void; close: () => void },
): JSX.Element {
  const { address, go, say, shown, models, partial, open, close } = stage;
  const [draft, setDraft] = useState(shown.trace.source.text);
  useEffect(() => setDraft(shown.trace.source.text), [shown.trace]);
  const isServed = models.length > 0;
  const submit = (): void => {
    if (!draft.trim()) return;
    close();
    go({ ...FREE, text: draft.trim() });
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
          <textarea
            aria-label={say("source")}
            rows={2}
            value={draft}
            onInput={(event) => setDraft(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
                event.preventDefault();
                submit();
              }
            }}
          />
          <div class="actions">
            {models.length > 1 && (
              <select
                aria-label={say("model")}
                value={address.model ?? models[0]?.name}
                onChange={(event) => go({ ...FREE, model: event.currentTarget.value })}
              >
                {models.map((model) => (
                  <option key={model.name} value={model.name}>
                    {model.name}
                  </option>
                ))}
              </select>
            )}
            <button type="submit" class="main" disabled={partial !== null}>
              {partial === null ? say("translate") : say("translating")}
            </button>
          </div>
        </form>
      ) : (
        <p class="notice">
          {say("noModel")} <code>regard serve MODEL</code>
        </p>
      )}
      <div class="tools">
        <Choice
          label={say("examples")}
          options={EXAMPLES.map((one) => [one, say(one)] as const)}
          chosen={shown.canned === null ? ("" as (typeof EXAMPLES)[number]) : address.example}
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
