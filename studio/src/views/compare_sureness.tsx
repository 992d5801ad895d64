// How sure each side was of what it wrote, token by token.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Address } from "../address";
import type { Theme } from "../colours";
import type { Place } from "../comparing";
import { Card } from "../controls";
import { signed } from "../figures/arithmetic";
import { sharesFigure } from "../figures/bars";
import { Picture } from "../picture";
import type { Pointed } from "../pointing";
import { Save } from "../save";
import { beside, titled } from "../scene";
import { Scrolling } from "../scrolling";
import { labels } from "../table";
import { type Trace, logProbability, nGiven, nWritten } from "../trace";
import type { Say } from "../words";
import { PLACES, type Sides, heldSides } from "./compare";

interface Props {
  address: Address;
  say: Say;
  theme: Theme;
  sides: Sides;
  names: readonly string[];
  pointedOn: (place: Place) => Pointed | null;
}

function bars(trace: Trace, pointed: Pointed | null) {
  const found = labels(trace.target, trace.target.tokens, false);
  const isPointed = (place: number): boolean =>
    pointed?.side === "target" && pointed.places.includes(place);
  const all = trace.steps.map((step, i) => ({
    text: found[i]?.text ?? "",
    value: Math.exp(step.log_probability),
    said: signed(step.log_probability),
    ...(isPointed(i) ? { isMarked: true, colour: "mark" as const } : {}),
  }));
  return all.slice(nGiven(trace));
}

export function CompareSureness({ say, theme, sides, names, pointedOn }: Props): JSX.Element {
  const words = PLACES.map((place) => pointedOn(place));
  const scenes = useMemo(() => {
    const all = PLACES.map((place) =>
      sharesFigure(bars(sides[place].trace, words[place] ?? null), say("tokens")),
    );
    const width = Math.max(...all.map((scene) => scene.width));
    return all.map((scene) => ({ ...scene, width }));
  }, [sides[0].trace, sides[1].trace, ...words, say]);
  const totals = PLACES.map((place) => logProbability(sides[place].trace));
  const [left = 0, right = 0] = totals;
  const named = scenes.map((scene, place) => {
    const { trace } = sides[place as Place];
    const total = say("total", { value: signed(totals[place] ?? 0), n: nWritten(trace) });
    return titled(scene, [names[place] ?? "", trace.target.text, total]);
  });
  return (
    <Card name="tokens" title={say("tokens")} lead={say("tokensLead")}>
      <div class="pair">
        {PLACES.map((place) => (
          <Scrolling key={place}>
            {scenes[place] && <Picture scene={scenes[place]} theme={theme} />}
          </Scrolling>
        ))}
      </div>
      <p class="change">
        {say("totals", {
          left: signed(left),
          right: signed(right),
          value: `${right > left ? "+" : ""}${signed(right - left)}`,
        })}
      </p>
      <Save
        scene={beside(named, say("tokens"))}
        theme={theme}
        name="tokens"
        say={say}
        held={heldSides(sides, names)}
      />
    </Card>
  );
}
