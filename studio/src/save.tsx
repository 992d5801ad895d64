// Saving what is seen: the scene as SVG or PNG, the trace as JSON, and this page with all that it
// shows as one file. Nothing leaves the browser.
import type { JSX } from "preact";
import { createContext, render } from "preact";
import { useContext, useState } from "preact/hooks";
import type { Theme } from "./colours";
import { COLOURS } from "./colours";
import type { AblateAnswer, RecordedBlocks, RecordedTraining } from "./contract";
import { type Contents, type Held, savedPage, savedText } from "./inlined";
import { load, paint } from "./paint";
import { Picture } from "./picture";
import { type Scene, framed } from "./scene";
import type { Trace } from "./trace";
import { asError, sayError } from "./trouble";
import type { Say } from "./words";

const SHARPNESS = 2;

function download(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** The text of an SVG file: the same elements that the page shows, and the ground below them. */
export function svgText(scene: Scene, theme: Theme): string {
  const whole = framed(scene);
  const ground = {
    kind: "rectangle",
    x: 0,
    y: 0,
    width: whole.width,
    height: whole.height,
    fill: "ground",
  } as const;
  const holder = document.createElement("div");
  render(<Picture scene={{ ...whole, items: [ground, ...whole.items] }} theme={theme} />, holder);
  const svg = holder.firstElementChild;
  svg?.removeAttribute("style");
  const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
  title.textContent = scene.title;
  svg?.prepend(title);
  return svg === null ? "" : `${new XMLSerializer().serializeToString(svg)}\n`;
}

/** Where a page opens that is saved now. */
export const Place = createContext("");

/** Everything that a saved page holds of what is seen here; a saved page keeps all that it has. */
function contentsOf(
  start: string,
  held: readonly Held[],
  training: RecordedTraining | null,
  blocks: RecordedBlocks | null,
): Contents {
  const page = savedPage();
  const isOwn = held.every((one) => page?.traces.some(({ trace }) => trace === one.trace));
  return {
    start,
    traces: page !== null && isOwn ? page.traces : held,
    training: training ?? page?.training ?? null,
    blocks: page?.blocks ?? blocks,
    report: page?.report ?? null,
    lesson: page?.lesson ?? null,
  };
}

async function savePng(scene: Scene, theme: Theme, name: string): Promise<void> {
  const whole = framed(scene);
  await load(whole);
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(whole.width * SHARPNESS);
  canvas.height = Math.ceil(whole.height * SHARPNESS);
  const context = canvas.getContext("2d");
  if (context === null) return;
  context.fillStyle = COLOURS[theme].ground;
  context.scale(SHARPNESS, SHARPNESS);
  paint(context, whole, theme);
  canvas.toBlob((blob) => {
    if (blob !== null) download(blob, `${name}.png`);
  });
}

interface Props {
  /** nothing where there is no one picture */
  scene: Scene | null;
  theme: Theme;
  name: string;
  say: Say;
  trace?: Trace & { ablation?: AblateAnswer };
  /** what a saved page needs to show the same; nothing where it needs no data */
  held?: readonly Held[] | (() => Promise<readonly Held[]>);
  training?: RecordedTraining | null;
  blocks?: () => Promise<RecordedBlocks>;
}

export function Save(props: Props): JSX.Element {
  const { scene, theme, name, say, trace, held = [], training = null, blocks } = props;
  const start = useContext(Place);
  const [trouble, setTrouble] = useState<Error | null>(null);
  const savePage = async (): Promise<void> => {
    const found = typeof held === "function" ? await held() : held;
    text(
      await savedText(contentsOf(start, found, training, blocks ? await blocks() : null)),
      "text/html",
      "html",
    );
  };
  const text = (content: string, type: string, ending: string): void =>
    download(new Blob([content], { type }), `${name}.${ending}`);
  return (
    <div class="save" role="group" aria-label={say("save")}>
      <span class="soft">{say("save")}</span>
      {scene && (
        <>
          <button
            type="button"
            class="quiet"
            onClick={() => text(svgText(scene, theme), "image/svg+xml", "svg")}
          >
            SVG
          </button>
          <button type="button" class="quiet" onClick={() => void savePng(scene, theme, name)}>
            PNG
          </button>
        </>
      )}
      {trace && (
        <button
          type="button"
          class="quiet"
          onClick={() => text(JSON.stringify(trace), "application/json", "json")}
        >
          JSON
        </button>
      )}
      <button
        type="button"
        class="quiet"
        title={say("saveHtml")}
        onClick={() => {
          setTrouble(null);
          savePage().catch((error: unknown) => setTrouble(asError(error)));
        }}
      >
        HTML
      </button>
      {trouble && (
        <p class="trouble" role="alert">
          {sayError(say, trouble)}
        </p>
      )}
    </div>
  );
}
