// A small window that asks for the service's key, and says when it was wrong.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { isPossible, whoAsks } from "./key";
import type { Say } from "./words";

interface Asked {
  isWrong: boolean;
  answer: (key: string | null) => void;
}

export function KeyAsking({ say }: { say: Say }): JSX.Element | null {
  const [asked, setAsked] = useState<Asked | null>(null);
  const [draft, setDraft] = useState("");
  const [isWrong, setWrong] = useState(false);
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    whoAsks(
      (wasWrong) =>
        new Promise((answer) => {
          setWrong(wasWrong);
          setAsked({ isWrong: wasWrong, answer });
        }),
    );
    return () => whoAsks(() => Promise.resolve(null));
  }, []);
  useEffect(() => {
    if (asked !== null) box.current?.showModal();
  }, [asked]);
  if (asked === null) return null;
  const end = (key: string | null): void => {
    setAsked(null);
    setDraft("");
    asked.answer(key);
  };
  return (
    <dialog ref={box} class="key" aria-labelledby="key-title" onCancel={() => end(null)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isPossible(draft.trim())) end(draft.trim());
          else setWrong(true);
        }}
      >
        <h2 id="key-title">{say("keyTitle")}</h2>
        <p class="soft">{say("keyLead")}</p>
        <input
          type="password"
          autocomplete="off"
          aria-label={say("keyTitle")}
          aria-invalid={isWrong}
          value={draft}
          onInput={(event) => {
            setDraft(event.currentTarget.value);
            setWrong(false);
          }}
        />
        {isWrong && (
          <p class="wrong" role="alert">
            {say("keyWrong")}
          </p>
        )}
        <div class="tools">
          <button type="submit" class="main">
            {say("keyGive")}
          </button>
          <button type="button" onClick={() => end(null)}>
            {say("keyWithout")}
          </button>
        </div>
      </form>
    </dialog>
  );
}
