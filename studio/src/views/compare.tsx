// Two sentences or two models side by side: the same layer and head, on the same scale.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Address } from "../address";
import type { Model } from "../api";
import { chosenIn } from "../choosing";
import type { Theme } from "../colours";
import { type Comparing, type Half, type Place, isRecorded, nameOf } from "../comparing";
import { Card, Choice, Toggle } from "../controls";
import { signed } from "../figures/arithmetic";
import { type Held, savedPage } from "../inlined";
import { HeadsGrid } from "../heads_grid";
import { paired, turned } from "../pairing";
import type { Pointed } from "../pointing";
import { Sentence } from "../sentence";
import { labelAt, labels } from "../table";
import { KINDS, type Kind, kindsOf, logProbability, nWritten } from "../trace";
import { type Say, sayOrigin } from "../words";
import { CompareAsking } from "./compare_asking";
import { ComparePictures } from "./compare_pictures";
import { CompareSureness } from "./compare_sureness";

export interface CompareProps {
  address: Address;
  go: (change: Partial<Address>) => void;
  say: Say;
  theme: Theme;
  models: readonly Model[];
  comparing: Comparing;
}

export type Sides = readonly [Half, Half];

/** A word that is pointed at, and on which side. */
export interface PointedAt {
  place: Place;
  word: Pointed;
}

export const PLACES = [0, 1] as const;

/** What a saved page needs to show the same two sides. */
export const heldSides = (sides: Sides, names: readonly string[]): readonly Held[] =>
  sides.map(({ trace }, place) => ({ trace, ...(names[place] ? { name: names[place] } : {}) }));

export function CompareView(props: CompareProps): JSX.Element {
  const { say, comparing } = props;
  const [left, right] = comparing.halves;
  return (
    <>
      <div class="intro">
        <p>{say("compareLead")}</p>
      </div>
      {comparing.trouble && (
        <p class="trouble" role="alert">
          {comparing.trouble}
        </p>
      )}
      {savedPage() === null && <CompareAsking {...props} />}
      {left === null || right === null ? (
        comparing.trouble === null && (
          <p class="soft loading">
            {comparing.isIdle
              ? say("ready", { name: props.models[0]?.name ?? "" })
              : say("loading")}
          </p>
        )
      ) : (
        <Compared {...props} sides={[left, right]} />
      )}
    </>
  );
}

function Compared(props: CompareProps & { sides: Sides }): JSX.Element {
  const { address, go, say, theme, models, sides } = props;
  const names = sides.map((side) => nameOf(side, models));
  const [pointed, point] = useState<PointedAt | null>(null);
  const words = useWords(sides, address.merges);
  const kinds = KINDS.filter((kind) => sides.some(({ trace }) => kindsOf(trace).includes(kind)));
  const kind: Kind | undefined = kinds.includes(address.site) ? address.site : kinds.at(-1);
  const pointedOn = (place: Place): Pointed | null =>
    pointed === null
      ? null
      : pointed.place === place
        ? pointed.word
        : words.partner(pointed.word, pointed.place);
  return (
    <>
      <div class="pair">
        {PLACES.map((place) => (
          <Card key={place} name="sentences" title={names[place] ?? ""}>
            {(["source", "target"] as const).map((side) => (
              <Sentence
                key={side}
                title={say(side === "source" ? "source" : "output")}
                trace={sides[place].trace}
                side={side}
                pointed={pointedOn(place)}
                point={(word) => point(word === null ? null : { place, word })}
                merges={address.merges}
                unknown={say("unknownWord")}
                marks={(i) => words.differs(side, place, i)}
              />
            ))}
            <p class="soft numbers">
              {say("total", {
                value: signed(logProbability(sides[place].trace)),
                n: nWritten(sides[place].trace),
              })}
              {isRecorded(sides[place]) && ` · ${sayOrigin(say, sides[place].trace)}`}
            </p>
          </Card>
        ))}
      </div>
      {kind === undefined ? (
        <p class="trouble">{say("noAttention")}</p>
      ) : (
        <>
          <Card name="grid" title={say("heads")} lead={say("headsBoth")}>
            <div class="tools">
              <Choice
                label={say("attention")}
                isLabelHidden
                options={kinds.map((one) => [one, say(one)] as const)}
                chosen={kind}
                choose={(one) =>
                  go({ site: one, layer: null, head: null, row: null, column: null })
                }
              />
              <Toggle text={say("merge")} isOn={address.merges} set={(merges) => go({ merges })} />
              <Toggle
                text={say("hide")}
                isOn={address.hidesSpecial}
                set={(hidesSpecial) => go({ hidesSpecial })}
              />
            </div>
            <div class="pair">
              {PLACES.map((place) => {
                const { trace } = sides[place];
                const { layer, head, reading, site } = chosenIn(trace, address, kind);
                return site === undefined ? (
                  <p key={place} class="soft">
                    {say("noSuchSite")}
                  </p>
                ) : (
                  <HeadsGrid
                    key={place}
                    choose={(one) => go(one)}
                    pointed={pointedOn(place)}
                    {...{ trace, kind, layer, head, reading, theme, say }}
                  />
                );
              })}
            </div>
          </Card>
          <ComparePictures
            {...{ address, go, say, theme, sides, names, kind, pointedOn }}
            point={(place, word) => point(word === null ? null : { place, word })}
          />
        </>
      )}
      <CompareSureness {...{ address, say, theme, sides, names, pointedOn }} />
    </>
  );
}

interface Words {
  /** the same word on the other side */
  partner: (word: Pointed, from: Place) => Pointed | null;
  /** whether a word is another on the other side, or missing there */
  differs: (side: "source" | "target", place: Place, index: number) => boolean;
}

function useWords(sides: Sides, merges: boolean): Words {
  const [left, right] = [sides[0].trace, sides[1].trace];
  return useMemo(() => {
    const of = (side: "source" | "target") => {
      const found = [left, right].map((trace) =>
        labels(trace[side], trace[side].tokens, merges),
      ) as [ReturnType<typeof labels>, ReturnType<typeof labels>];
      const [one, other] = found.map((all) => all.map((label) => label.text)) as [
        string[],
        string[],
      ];
      const forth = paired(one, other);
      return { found, to: [forth, turned(forth, other.length)] as const };
    };
    const both = { source: of("source"), target: of("target") };
    const other = (place: Place): Place => (place === 0 ? 1 : 0);
    return {
      partner: (word, from) => {
        const { found, to } = both[word.side];
        const index = labelAt(found[from], word.places[0] ?? null);
        const there = index === null ? null : (to[from][index] ?? null);
        const label = there === null ? undefined : found[other(from)][there];
        return label === undefined ? null : { ...word, places: label.places };
      },
      differs: (side, place, index) => {
        const { found, to } = both[side];
        const there = to[place][index] ?? null;
        return there === null || found[other(place)][there]?.text !== found[place][index]?.text;
      },
    };
  }, [left, right, merges]);
}
