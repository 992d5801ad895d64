// A story of a language model and what each word looked at; a text with gaps and what fits there.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Address } from "../address";
import type { Model } from "../api";
import type { TokenEvent } from "../contract";
import { chosenIn } from "../choosing";
import type { Theme } from "../colours";
import { Card, Choice, Toggle } from "../controls";
import { signed } from "../figures/arithmetic";
import { sharesFigure } from "../figures/bars";
import { withScale } from "../figures/scale";
import { storyFigure } from "../figures/story";
import { unknownOf } from "../fitting";
import { savedPage } from "../inlined";
import { HeadsGrid } from "../heads_grid";
import { Legend } from "../legend";
import { Picture } from "../picture";
import { Save } from "../save";
import { type Scene, stacked } from "../scene";
import { Scrolling } from "../scrolling";
import type { Shown } from "../stage";
import { UnknownWords } from "../sentence";
import { Story, surprise } from "../story";
import { type StoryWord, mostLooked, storyLooks, storyWords } from "../story_table";
import { type Reading, topOf } from "../table";
import { MASK, type Trace, doesOf, logProbability, nGiven, nWritten } from "../trace";
import { sayError } from "../trouble";
import { type Say, sayOrigin } from "../words";
import { type Writing, chosenWriter, writersOf } from "../writing";
import { GenerateAsking } from "./generate_asking";

interface Props {
  address: Address;
  go: (change: Partial<Address>) => void;
  say: Say;
  theme: Theme;
  models: readonly Model[];
  writing: Writing;
  /** a file that was opened */
  opened: Shown | null;
  open: (file: File) => void;
  close: () => void;
}

const N_LOOKED = 8;

export function GenerateView(props: Props): JSX.Element {
  const { address, say, models, writing, opened } = props;
  const file = opened !== null && doesOf(opened.trace) !== "translate" ? opened : null;
  const model = chosenWriter(address, models);
  const unknown = unknownOf(writersOf(models), [address.writer], say);
  const trouble = unknown ?? (writing.trouble && sayError(say, writing.trouble));
  const isOther = unknown !== null && address.prompt !== null; // what is there answers another
  const trace = file?.trace ?? (isOther ? null : writing.trace);
  return (
    <>
      <div class="intro">
        <p>{say("generateLead")}</p>
      </div>
      {savedPage() === null && <GenerateAsking {...props} isFile={file !== null} />}
      {trouble && (
        <p class="trouble" role="alert">
          {trouble}
        </p>
      )}
      {writing.pieces !== null ? (
        <Coming {...props} pieces={writing.pieces} />
      ) : trace !== null ? (
        <Looking {...props} trace={trace} file={file?.file ?? null} />
      ) : (
        trouble === null && (
          <p class="soft loading">
            {writing.isIdle && model !== null
              ? say("ready", { name: model.name })
              : say(writing.isRecorded || writing.isBusy ? "loading" : "endedAtOnce")}
          </p>
        )
      )}
    </>
  );
}

/** The text while it is written. */
function Coming({ address, say, pieces }: Props & { pieces: readonly TokenEvent[] }): JSX.Element {
  return (
    <Card name="telling-card" title={say("writing")}>
      <div class="story" aria-live="polite">
        <span class="given">{address.prompt}</span>
        {pieces.map((piece, i) => (
          <span key={i} class={`surprise${surprise(piece.log_probability)}`}>
            {piece.text}
          </span>
        ))}
        <span class="cursor" aria-hidden="true" />
      </div>
    </Card>
  );
}

function Looking(props: Props & { trace: Trace; file: string | null }): JSX.Element {
  const { address, go, say, theme, trace, file, writing } = props;
  const isWriting = doesOf(trace) === "write";
  const { kind, layer, head, site } = chosenIn(trace, address);
  const reading: Reading = isWriting ? (address.reading ?? "predicting") : "reading";
  const words = useMemo(() => storyWords(trace, address.merges), [trace, address.merges]);
  const looks = useMemo(
    () => (site ? storyLooks(trace, site, head, reading, address.merges) : []),
    [trace, site, head, reading, address.merges],
  );
  const [pointed, point] = useState<number | null>(null);
  const focus = pointed ?? chosenWord(address, words, looks);
  const row = focus === null ? null : (looks[focus] ?? null);
  const choose = (i: number): void => go({ row: words[i]?.places[0] ?? null });
  const isGap = (i: number): boolean => words[i]?.text === MASK;
  const looked = useMemo(() => lookedFigure(words, row, say), [words, row, say]);
  const sure = useMemo(
    () => surenessFigures(trace, words, focus, writing.fits),
    [trace, words, focus, writing.fits],
  );
  const word = focus === null ? "" : (words[focus]?.text ?? "");
  const log = focus === null ? null : (words[focus]?.logProbability ?? null);
  const n = nWritten(trace);
  const title = say(isWriting ? "story" : "gapped");
  const name = (file === null ? writing.name : null) ?? trace.provenance.model;
  const top = topOf(trace, kind, looks);
  const saved = useMemo(() => {
    const scene = storyFigure(words, row, focus, `${title}: ${name}`, top);
    const scale = { ramp: "weights", low: 0, high: top } as const;
    return withScale({ scene, scale, hasMasked: false }, say);
  }, [words, row, focus, title, name, top, say]);
  const figures = [saved, ...(focus === null ? [] : [looked]), ...sure.map(({ scene }) => scene)];
  const grid = site !== undefined && (
    <Card name="grid" title={say("heads")} lead={say("headsLead")}>
      <Toggle text={say("merge")} isOn={address.merges} set={(merges) => go({ merges })} />
      <HeadsGrid
        choose={(one) => go(one)}
        pointed={null}
        {...{ trace, kind, layer, head, reading, theme, say }}
      />
    </Card>
  );
  return (
    <div class="looking wide">
      <div class="column">
        <Card
          name="telling-card"
          title={title}
          lead={say(isWriting ? "storyLead" : "gapsLead")}
          tools={
            isWriting ? (
              <Choice
                label={say("rows")}
                isLabelHidden
                options={[
                  ["predicting", say("writtenFrom")],
                  ["reading", say("whenRead")],
                ]}
                chosen={reading}
                choose={(one) => go({ reading: one })}
              />
            ) : null
          }
        >
          <Story
            {...{ words, row, focus, theme, top, point, choose }}
            label={title}
            marked={isGap}
          />
          <p class="told" aria-live="polite">
            {focus === null || row === null ? say("storyHint") : saidOf(words, focus, row, say)}
          </p>
          <Legend scale={{ ramp: "weights", low: 0, high: top }} {...{ theme, say }} />
          <UnknownWords words={words.filter((one) => one.is_unknown)} say={say} />
          {file === null && writing.full && <p class="notice">{say("fullHere", writing.full)}</p>}
          {isWriting && <SurpriseLegend say={say} />}
          <p class="soft numbers">
            {n > 0 && `${say("total", { value: signed(logProbability(trace)), n })} · `}
            {file !== null
              ? say("fromFile", { name: file })
              : savedPage() !== null
                ? sayOrigin(say, trace)
                : say(writing.isRecorded ? "recordedStory" : "fromModel", { name })}
          </p>
          <Save
            scene={stacked(figures, saved.title)}
            theme={theme}
            name={isWriting ? "story" : "gaps"}
            say={say}
            trace={trace}
            held={[{ trace }]}
          />
        </Card>
        {isWriting ? grid : <Gaps {...{ sure, theme, say }} />}
      </div>
      <div class="column">
        {focus !== null && (
          <Card name="looked" title={say("lookedAt", { word })} lead={say("lookedLead")}>
            <Scrolling>
              <Picture scene={looked} theme={theme} />
            </Scrolling>
          </Card>
        )}
        {isWriting && log !== null && (
          <Card
            name="odds"
            title={say("odds", { word })}
            lead={say("oddsLead", { value: signed(log) })}
          >
            {sure.map(({ scene, token }, i) => (
              <Scrolling key={i}>
                {sure.length > 1 && <p class="soft">{token}</p>}
                <Picture scene={scene} theme={theme} />
              </Scrolling>
            ))}
          </Card>
        )}
        {!isWriting && grid}
      </div>
    </div>
  );
}

function Gaps({
  sure,
  theme,
  say,
}: {
  sure: readonly Sure[];
  theme: Theme;
  say: Say;
}): JSX.Element {
  return (
    <Card name="fits" title={say("fits")} lead={say("fitsLead")}>
      <div class="figures">
        {sure.length === 0 && <p class="soft">{say("noGaps", { mask: MASK })}</p>}
        {sure.map(({ scene, token }, i) => (
          <figure key={i}>
            <figcaption>{token}</figcaption>
            <Scrolling>
              <Picture scene={scene} theme={theme} />
            </Scrolling>
          </figure>
        ))}
      </div>
    </Card>
  );
}

function SurpriseLegend({ say }: { say: Say }): JSX.Element {
  return (
    <p class="legend soft">
      {say("odd")}{" "}
      {(["≥ 50 %", "20", "5", "1", "< 1 %"] as const).map((text, i) => (
        <span key={text} class={`surprise${i}`}>
          {text}
        </span>
      ))}
    </p>
  );
}

/** The word at the address; else the last gap, or the written word that looks somewhere most. */
function chosenWord(
  address: Address,
  words: readonly StoryWord[],
  looks: readonly (readonly number[])[],
): number | null {
  const asked = words.findIndex((word) => word.places.includes(address.row ?? -1));
  if (asked >= 0) return asked;
  const gap = words.findLastIndex((word) => word.text === MASK);
  if (gap >= 0) return gap;
  const strengths = words.map((word, i) =>
    word.isGiven || !/\p{L}/u.test(word.text) ? -1 : Math.max(...(looks[i] ?? [-1])),
  );
  const strongest = Math.max(...strengths);
  return strongest < 0 ? null : strengths.indexOf(strongest);
}

function saidOf(
  words: readonly StoryWord[],
  focus: number,
  row: readonly number[],
  say: Say,
): string {
  const word = words[focus];
  const looked = mostLooked(row, 4)
    .map((i) => say("weighted", { word: words[i]?.text ?? "", weight: (row[i] ?? 0).toFixed(3) }))
    .join(say("and"));
  const at = say("wordSaid", { word: word?.text ?? "", looked: looked || "–" });
  const log = word?.logProbability ?? null;
  if (log === null) return at;
  const said = percentSaid(Math.exp(log));
  return `${at} · P ${said.startsWith("<") ? said : `= ${said}`}`;
}

const percentSaid = (share: number): string =>
  share >= 0.0095 ? `${Math.round(100 * share)} %` : "< 1 %";

function lookedFigure(words: readonly StoryWord[], row: readonly number[] | null, say: Say): Scene {
  const found = row === null ? [] : mostLooked(row, N_LOOKED);
  const bars = found.map((i) => ({
    text: words[i]?.text ?? "",
    value: row?.[i] ?? 0,
    said: (row?.[i] ?? 0).toFixed(3),
  }));
  return sharesFigure(bars, say("lookedLead"), scaled(bars));
}

/** How long the longest bar is: small shares are drawn larger, and their numbers tell. */
const scaled = (bars: readonly { value: number }[]): number =>
  Math.max(0.25, ...bars.map((bar) => bar.value));

interface Sure {
  scene: Scene;
  /** what it is about */
  token: string;
}

const clean = (text: string): string => text.replaceAll("▁", " ").trim() || "␣";

/** For each token of a written word, or for each gap of a text, what could have stood there. */
function surenessFigures(
  trace: Trace,
  words: readonly StoryWord[],
  focus: number | null,
  fits: Writing["fits"],
): readonly Sure[] {
  const isWriting = doesOf(trace) === "write";
  const places = isWriting
    ? (words[focus ?? -1]?.places ?? [])
        .map((place) => place - 1)
        .filter((place) => place >= nGiven(trace))
    : trace.steps.map((_, i) => i);
  const all = places.flatMap((place, i): Sure[] => {
    const [step, written] = [trace.steps[place], trace.target.tokens[place]];
    if (!step) return [];
    const shares =
      fits?.[place]?.map(({ word, probability }) => ({
        text: word,
        value: probability,
        id: null,
      })) ??
      step.alternatives.map((one) => ({
        text: clean(one.text),
        value: Math.exp(one.log_probability),
        id: one.id,
      }));
    const bars = shares.map(({ text, value, id }) => ({
      text,
      value,
      said: percentSaid(value),
      ...(isWriting ? { isMarked: id === written?.id } : {}),
    }));
    const token = isWriting ? clean(written?.text ?? "") : `${MASK} ${i + 1}`;
    return [{ scene: sharesFigure(bars, token, scaled(bars)), token }];
  });
  // The end of a line before a word is nothing to choose from.
  const visible = all.filter(({ token }) => token !== "␣");
  return visible.length > 0 ? visible : all;
}
