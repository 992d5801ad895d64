// A picture as it was looked at: glimpse by glimpse, or from one of its places after another.
import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { chosenIn } from "../choosing";
import { Card, FormChoice, Slider } from "../controls";
import { cellAt, gazesFigure, placeFigure } from "../figures/pictured";
import { Picture } from "../picture";
import { Save } from "../save";
import { Scrolling } from "../scrolling";
import { type Stage, heldOf } from "../stage";
import { mean } from "../table";
import { formsOf } from "./whole";

const MOMENT = 900; // milliseconds that a glimpse is shown

/** The path of a model that moves over a picture, which can be stepped through and played. */
export function Gazes({ stage }: { stage: Stage }): JSX.Element {
  const { address, go, say, theme, shown } = stage;
  const { trace } = shown;
  const last = (trace.picture?.gazes?.length ?? 1) - 1;
  const at = Math.min(address.row ?? last, last);
  const [isPlaying, play] = useState(false);
  useEffect(() => {
    if (!isPlaying) return;
    if (at === last) {
      play(false);
      return;
    }
    const waiting = setTimeout(() => go({ row: at + 1 }), MOMENT);
    return () => clearTimeout(waiting);
  }, [isPlaying, at, last, go]);
  const title = say("gazesLong");
  const isNarrow = useNarrow();
  const scene = useMemo(
    () => gazesFigure(trace, at, title, { seen: say("seen"), believed: say("believed") }, isNarrow),
    [trace, at, say, isNarrow],
  );
  const step = (to: number): void => {
    play(false);
    go({ row: Math.max(0, Math.min(last, to)) });
  };
  return (
    <Card
      name="focus"
      title={title}
      lead={say("gazesLead")}
      tools={<FormChoice form="gazes" forms={formsOf(trace)} go={go} say={say} />}
    >
      <div class="tools">
        <span class="stepping">
          <button type="button" disabled={at === 0} onClick={() => step(at - 1)}>
            {say("previous")}
          </button>
          <button
            type="button"
            class="main"
            onClick={() => {
              if (!isPlaying && at === last) go({ row: 0 });
              play(!isPlaying);
            }}
          >
            {say(isPlaying ? "pause" : "play")}
          </button>
          <button type="button" disabled={at === last} onClick={() => step(at + 1)}>
            {say("next")}
          </button>
        </span>
        <Slider
          text={say("glimpse")}
          value={at + 1}
          least={1}
          most={last + 1}
          set={(n) => step(n - 1)}
        />
      </div>
      <Scrolling>
        <Picture scene={scene} theme={theme} />
      </Scrolling>
      <Save {...{ scene, theme, say, trace }} name="gazes" held={() => heldOf(shown)} />
    </Card>
  );
}

/** Whether the page is as narrow as a phone. */
function useNarrow(): boolean {
  const question = useMemo(() => matchMedia("(max-width: 40rem)"), []);
  const [isNarrow, set] = useState(question.matches);
  useEffect(() => {
    const read = (): void => set(question.matches);
    question.addEventListener("change", read);
    return () => question.removeEventListener("change", read);
  }, [question]);
  return isNarrow;
}

const MOVES: Record<string, readonly [number, number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

/** A picture that was drawn: a click on a place shows where the generator looked to draw it. */
export function Places({ stage }: { stage: Stage }): JSX.Element {
  const { address, go, say, theme, shown } = stage;
  const { trace } = shown;
  const [rows, columns] = trace.picture?.grid ?? [1, 1];
  const { site, head } = chosenIn(trace, address, "cross");
  const names = useMemo(
    () => new Map(trace.target.tokens.map(({ text }, row) => [text, row] as const)),
    [trace],
  );
  const middle = names.get(`${rows >> 1},${columns >> 1}`) ?? 0;
  const row = address.row !== null && address.row < names.size ? address.row : middle;
  const name = trace.target.tokens[row]?.text ?? "0,0";
  const [i = 0, j = 0] = name.split(",").map(Number);
  const weights = useMemo(() => {
    const some =
      site === undefined ? [] : head === null ? site.weights : [site.weights[head] ?? []];
    return mean(some)[row] ?? [];
  }, [site, head, row]);
  const most = weights.indexOf(Math.max(...weights));
  const title = say("placesLong");
  const isNarrow = useNarrow();
  const scene = useMemo(
    () =>
      placeFigure(
        trace,
        [i, j],
        weights,
        title,
        { picture: say("thePicture"), looked: say("lookedFrom", { place: name }) },
        isNarrow,
      ),
    [trace, name, weights, say, isNarrow],
  );
  const choose = (cell: readonly [number, number] | null): void => {
    const found = cell === null ? undefined : names.get(`${cell[0]},${cell[1]}`);
    if (found !== undefined) go({ row: found });
  };
  return (
    <Card
      name="focus"
      title={title}
      lead={say(names.size > 1 ? "placesLead" : "placeLead")}
      tools={<FormChoice form="pictures" forms={formsOf(trace)} go={go} say={say} />}
    >
      <Scrolling>
        <Picture
          scene={scene}
          theme={theme}
          class="picture pointing"
          tabindex={0}
          onClick={(event: MouseEvent) => {
            const svg = event.currentTarget as SVGSVGElement;
            const box = svg.getBoundingClientRect();
            const scale = scene.width / box.width;
            const [x, y] = [event.clientX - box.left, event.clientY - box.top];
            choose(cellAt(trace, x * scale, y * scale, isNarrow));
          }}
          onKeyDown={(event: KeyboardEvent) => {
            const move = MOVES[event.key];
            if (move === undefined) return;
            event.preventDefault();
            choose([i + move[0], j + move[1]]);
          }}
        />
      </Scrolling>
      <p class="told" role="status">
        {say("placeSaid", {
          place: name,
          most: trace.source.tokens[most]?.text ?? "",
          share: `${(100 * (weights[most] ?? 0)).toFixed(1)} %`,
        })}
      </p>
      <Save {...{ scene, theme, say, trace }} name="places" held={() => heldOf(shown)} />
    </Card>
  );
}
