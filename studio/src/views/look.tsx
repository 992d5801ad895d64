// Translate a sentence, and look at every attention on the way.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { chosenIn } from "../choosing";
import { Card, Choice } from "../controls";
import { signed } from "../figures/arithmetic";
import { sharesFigure } from "../figures/bars";
import { namePicture, unitOf } from "../figures/pictured";
import { HeadsGrid } from "../heads_grid";
import { LONGER } from "../passages";
import { Picture } from "../picture";
import type { Pointed } from "../pointing";
import { PlainSentence, Sentence, UnknownWords } from "../sentence";
import type { Pending, Stage } from "../stage";
import { labelAt, labels, unknownLabels } from "../table";
import { kindsOf, logProbability } from "../trace";
import { type Say, sayOrigin } from "../words";
import { Focus } from "./focus";
import { Passages } from "./passages";
import { Gazes, Places } from "./pictured";
import { Whole, formOf, formsOf } from "./whole";

export function LookView(stage: Stage): JSX.Element {
  const { address, go, say, shown, theme, pending } = stage;
  const { trace } = shown;
  const [pointed, point] = useState<Pointed | null>(null);
  const kinds = kindsOf(trace);
  const { kind, layer, head, reading, site } = chosenIn(trace, address);
  const form = formOf(trace, address.form);
  const unit = unitOf(trace);
  const isLonger = !trace.picture && trace.source.tokens.length >= LONGER;
  return (
    <>
      {pending === null ? (
        <Sentences {...{ stage, pointed, point }} />
      ) : (
        <PendingSentences {...{ pending, say }} />
      )}
      {site === undefined ? (
        pending === null && (
          <>
            <p class="trouble">{say("noAttention")}</p>
            {formsOf(trace).length > 0 && <Whole {...{ stage, form }} />}
          </>
        )
      ) : (
        // Pictures of an older sentence keep their place, unseen, until those of the new one come.
        <div class={pending === null ? "looking" : "looking stale"} inert={pending !== null}>
          <div class="column">
            {!isLonger && (
              <Card name="grid" title={say("heads")} lead={say("headsLead")}>
                <Choice
                  label={say("attention")}
                  isLabelHidden
                  options={kinds.map(
                    (one) => [one, say(trace.picture ? "toPicture" : one)] as const,
                  )}
                  chosen={kind}
                  choose={(one) =>
                    go({ site: one, layer: null, head: null, row: null, column: null })
                  }
                />
                <HeadsGrid
                  trace={trace}
                  kind={kind}
                  layer={layer}
                  head={head}
                  theme={theme}
                  say={say}
                  pointed={pointed}
                  reading={reading}
                  choose={(one) => go({ ...one, heads: [] })}
                />
              </Card>
            )}
            <Beam {...stage} />
            {unit !== "place" && <Sureness {...stage} pointed={pointed} />}
          </div>
          {form === "matrix" || form === "lines" ? (
            <Focus {...{ stage, site, head, reading, pointed, point }} />
          ) : form === "passages" ? (
            <Passages stage={stage} />
          ) : form === "gazes" ? (
            <Gazes stage={stage} />
          ) : form === "pictures" && unit === "place" ? (
            <Places stage={stage} />
          ) : (
            <Whole {...{ stage, form }} />
          )}
        </div>
      )}
    </>
  );
}

/** What was asked for, and as much of its translation as there is. */
export function PendingSentences({ pending, say }: { pending: Pending; say: Say }): JSX.Element {
  return (
    <Card name="sentences">
      <PlainSentence title={say("source")} text={pending.source} />
      <PlainSentence title={say("output")} text={pending.output} />
    </Card>
  );
}

interface SentencesProps {
  stage: Stage;
  pointed: Pointed | null;
  point: (pointed: Pointed | null) => void;
}

function Sentences({ stage, pointed, point }: SentencesProps): JSX.Element {
  const { address, say, shown, models } = stage;
  const { trace } = shown;
  const unknown = unknownLabels(trace.source);
  const unit = unitOf(trace);
  const sides = (["source", "target"] as const).filter((side) =>
    side === "source"
      ? !trace.picture && trace.source.tokens.length < LONGER // which its passages show
      : unit !== "place",
  );
  return (
    <Card name="sentences">
      {trace.picture && (
        <div class="sentence">
          <h2>{say("pictures")}</h2>
          <p>
            <img
              class="read"
              src={`data:image/png;base64,${trace.picture.png}`}
              alt={namePicture(say, trace.source.text)}
            />{" "}
            <span class="soft">{namePicture(say, trace.source.text)}</span>
          </p>
        </div>
      )}
      {sides.map((side) => (
        <Sentence
          key={side}
          title={say(side === "source" ? "source" : unit === "glimpse" ? "beliefs" : "output")}
          unknown={say("unknownWord")}
          merges={address.merges}
          {...{ trace, side, pointed, point }}
        />
      ))}
      <UnknownWords words={unknown} say={say} />
      <p class="soft numbers">
        {unit === "word" &&
          `${say("total", { value: signed(logProbability(trace)), n: trace.steps.length })} · `}
        {shown.file !== null
          ? say("fromFile", { name: shown.file })
          : shown.canned !== null
            ? sayOrigin(say, trace)
            : say("fromModel", {
                name: shown.sight?.model ?? models[0]?.name ?? trace.provenance.model,
              })}
      </p>
    </Card>
  );
}

function Beam({ address, go, say, shown }: Stage): JSX.Element | null {
  if (shown.hypotheses.length === 0) return null;
  const isChosen = (text: string, i: number): boolean =>
    address.target === null
      ? i === 0
      : shown.hypotheses.findIndex((one) => one.text === address.target) === i && text !== "";
  const canChoose = shown.sight !== null;
  return (
    <Card
      name="beam"
      title={say("beam")}
      lead={say("beamLead") + (canChoose ? say("beamChoose") : "")}
    >
      <p class="soft" aria-hidden="true">
        <span>{say("score")}</span>
        <span>log P</span>
      </p>
      <ol>
        {shown.hypotheses.map((one, i) => (
          <li key={i} class={isChosen(one.text, i) ? "chosen" : ""}>
            {one.text === "" ? (
              <span class="soft">{say("empty")}</span>
            ) : canChoose ? (
              <button
                type="button"
                class="plain"
                onClick={() => go({ target: i === 0 ? null : one.text, row: null, column: null })}
              >
                {one.text}
              </button>
            ) : (
              <span>{one.text}</span>
            )}
            <span class="score" title={say("score")}>
              {signed(one.score)}
            </span>
            <span class="number soft" title="log P">
              {signed(one.log_probability)}
            </span>
          </li>
        ))}
      </ol>
    </Card>
  );
}

function Sureness({
  address,
  say,
  shown,
  theme,
  pointed,
}: Stage & { pointed: Pointed | null }): JSX.Element {
  const { trace } = shown;
  const found = useMemo(() => labels(trace.target, trace.target.tokens, false), [trace]);
  const selected = address.site === "encoder" ? null : labelAt(found, address.row);
  const place = pointed?.side === "target" ? (pointed.places[0] ?? null) : selected;
  const at = place ?? (unitOf(trace) === "glimpse" ? trace.steps.length - 1 : 0);
  const step = trace.steps[at];
  const written = trace.target.tokens[at];
  const scene = useMemo(
    () =>
      sharesFigure(
        (step?.alternatives ?? []).map((one) => {
          const share = Math.exp(one.log_probability);
          const text = one.text.replaceAll("▁", " ").trim() || "␣";
          const said = share >= 0.0095 ? `${Math.round(100 * share)} %` : "< 1 %";
          return { text, value: share, said, isMarked: one.id === written?.id };
        }),
        say("step"),
      ),
    [step, written, say],
  );
  return (
    <Card
      name="sureness"
      title={say("step")}
      lead={say("stepLead", { token: found[at]?.text ?? "" })}
    >
      <Picture scene={scene} theme={theme} />
    </Card>
  );
}
