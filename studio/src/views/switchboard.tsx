// Heads switched off, and what the model then writes.
import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { format } from "../address";
import { ablationOf } from "../api";
import type { AblateAnswer } from "../contract";
import { Card } from "../controls";
import { changesFigure } from "../figures/bars";
import { signed } from "../figures/arithmetic";
import { Picture } from "../picture";
import { Save } from "../save";
import { type Scene, titled, wrapped } from "../scene";
import { Scrolling } from "../scrolling";
import { savedPage } from "../inlined";
import { type Shown, type Stage, heldOf, nameOfHeads } from "../stage";
import { hasHead, kindsOf, layersOf, siteOf } from "../trace";
import { asError, sayError } from "../trouble";
import { type Say, sayNames } from "../words";
import { AblationDifference } from "./ablation_difference";

function useAblation(shown: Shown, off: readonly string[], say: Say): AblateAnswer | string | null {
  const [served, setServed] = useState<AblateAnswer | Error | null>(null);
  const key = JSON.stringify([shown.sight, off]);
  useEffect(() => {
    if (shown.sight === null || off.length === 0) {
      setServed(null);
      return;
    }
    const breaking = new AbortController();
    ablationOf(shown.sight, off, breaking.signal)
      .then(setServed)
      .catch((error: unknown) => {
        if (!breaking.signal.aborted) setServed(asError(error));
      });
    return () => breaking.abort();
  }, [key]);
  if (shown.canned !== null) return shown.canned.ablations[nameOfHeads(off)] ?? null;
  return served instanceof Error ? sayError(say, served) : served;
}

export function SwitchboardView(stage: Stage): JSX.Element {
  const { address, go, say, shown } = stage;
  const { trace } = shown;
  const isCanned = shown.canned !== null;
  const lacking = address.off.filter((name) => !hasHead(trace, name));
  const there = address.off.filter((name) => hasHead(trace, name));
  const known = shown.canned?.ablations ?? {};
  const off = isCanned && !(nameOfHeads(there) in known) ? there.slice(0, 1) : there;
  /** What is recorded with this head off, with the fewest others; nothing if nothing is. */
  const recorded = (name: string): readonly string[] | undefined =>
    Object.keys(known)
      .map((one) => one.split(","))
      .filter((one) => one.includes(name))
      .sort((a, b) => a.length - b.length)[0];
  const found = useAblation(shown, off, say);
  const isFixed = shown.file !== null;
  const flip = (name: string): void => {
    const others = off.filter((one) => one !== name);
    const wasOff = others.length < off.length;
    if (isCanned) go({ off: wasOff ? [] : (recorded(name) ?? []) });
    else go({ off: wasOff ? others : [...others, name] });
  };
  return (
    <>
      <div class="intro">
        <p>{say("switchLead")}</p>
        {(isCanned || isFixed) && (
          <Notice {...stage} said={isCanned ? "cannedSwitch" : "fileSwitch"} />
        )}
        {lacking.length > 0 && (
          <p class="trouble" role="alert">
            {say("noSuchHead", { heads: sayNames(say, lacking).join(say("semicolon")) })}
          </p>
        )}
      </div>
      <div class="switching">
        <Card
          name="board"
          title={trace.source.text}
          tools={
            <button
              type="button"
              onClick={() => go({ off: [] })}
              disabled={address.off.length === 0}
            >
              {say("allOn")}
            </button>
          }
        >
          {kindsOf(trace).map((kind) => (
            <fieldset key={kind} disabled={isFixed}>
              <legend>{say(`${kind}Long`)}</legend>
              {layersOf(trace, kind).map((layer) => (
                <div class="layer" key={layer}>
                  <span class="soft">{say("layer", { n: layer })}</span>
                  {siteOf(trace, kind, layer)?.weights.map((_, head) => {
                    const name = `${kind}.${layer}.${head}`;
                    const isOff = off.includes(name);
                    const long = say("headOf", { site: say(`${kind}Long`), layer, head });
                    return (
                      <button
                        type="button"
                        key={name}
                        role="switch"
                        class="switch"
                        aria-checked={!isOff}
                        aria-label={long}
                        title={long}
                        disabled={isCanned && recorded(name) === undefined}
                        data-head={head % 8}
                        onClick={() => flip(name)}
                      >
                        {head}
                      </button>
                    );
                  })}
                </div>
              ))}
            </fieldset>
          ))}
        </Card>
        <Outcome {...stage} off={off} found={off.length === 0 ? null : found} />
      </div>
      {off.length > 0 && <AblationDifference stage={stage} off={off} />}
    </>
  );
}

/** Why not every switch can be used here, and where it can. */
function Notice({
  address,
  go,
  say,
  models,
  said,
}: Stage & { said: "cannedSwitch" | "fileSwitch" }): JSX.Element {
  if (models.length === 0) {
    return (
      <p class="notice">
        {say(savedPage() === null ? said : "savedSwitch")} <code>regard serve MODEL</code>
      </p>
    );
  }
  const there = { view: "look", off: [] } as const;
  return (
    <p class="notice">
      {say(`${said}Served`)}{" "}
      <a
        href={format({ ...address, ...there }, address.language === "en" ? "zh" : "en")}
        onClick={(event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey) return;
          event.preventDefault();
          go(there);
        }}
      >
        {say("look")}
      </a>
    </p>
  );
}

/** The picture as it is saved: which heads were off, and what came of it. */
function saved(bars: Scene, source: string, found: AblateAnswer, say: Say): Scene {
  const heads = sayNames(say, found.heads);
  const off = say("switchedOff", { heads: heads.join(say("semicolon")) });
  const colon = say("colon");
  const told = [
    say("source") + colon + source,
    say("before") + colon + found.before,
    say("after", { n: found.heads.length }) + colon + found.after,
    changeSaid(found, say),
    say("changesLead"),
  ];
  const width = Math.max(bars.width, WIDE);
  const lines = (text: string): string[] => wrapped(text, width, SIZE);
  const title = [say("switchedOff", { heads: heads[0] ?? "" }), ...heads.slice(1)].flatMap(lines);
  const whole = titled(bars, [...title, ...told.flatMap(lines)], SIZE, title.length);
  return { ...whole, title: off };
}

const [WIDE, SIZE] = [560, 15];
const NARROW = 700; // less room than this has shorter bars, and words that can be read

const changeSaid = (found: AblateAnswer, say: Say): string =>
  say("change", { value: `${found.change > 0 ? "+" : ""}${signed(found.change, 3)}` });

interface OutcomeProps extends Stage {
  /** heads by name */
  off: readonly string[];
  found: AblateAnswer | string | null;
}

function Outcome({ say, theme, shown, off, found }: OutcomeProps): JSX.Element {
  const isFound = found !== null && typeof found !== "string";
  const scene = useMemo(
    () =>
      isFound
        ? changesFigure(
            found.changes.map((value, i) => ({
              text: (found.tokens[i] ?? "</s>").replaceAll("▁", " ").trim() || "␣",
              value,
              said: `${value >= 0.005 ? "+" : ""}${signed(value)}`,
            })),
            say("changesLead"),
            innerWidth < NARROW ? 72 : 150,
          )
        : null,
    [found, say],
  );
  return (
    <Card name="outcome">
      <div class="outputs" aria-live="polite">
        <h2>{say("before")}</h2>
        <p>{isFound ? found.before : shown.trace.target.text}</p>
        {off.length > 0 && (
          <>
            <h2>{say("after", { n: off.length })}</h2>
            {found === null ? (
              <p class="soft">{say("loading")}</p>
            ) : typeof found === "string" ? (
              <p class="trouble">{found}</p>
            ) : (
              <>
                <p class={found.has_changed ? "changed" : ""}>{found.after}</p>
                <p class="soft">{say(found.has_changed ? "changed" : "same")}</p>
                <p class="change">{changeSaid(found, say)}</p>
              </>
            )}
          </>
        )}
        {off.length === 0 && <p class="soft">{say("nothingOff")}</p>}
      </div>
      {scene && isFound && (
        <>
          <p class="soft">{say("changesLead")}</p>
          <Scrolling>
            <Picture scene={scene} theme={theme} />
          </Scrolling>
          <Save
            scene={saved(scene, shown.trace.source.text, found, say)}
            theme={theme}
            name="switchboard"
            say={say}
            trace={{ ...shown.trace, ablation: found }}
            held={() => heldOf(shown, found)}
          />
        </>
      )}
    </Card>
  );
}
