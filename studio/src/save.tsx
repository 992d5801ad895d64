// Saving what is seen: the scene as SVG, PNG or a page, the trace as JSON. Nothing leaves the browser.
import type { JSX } from "preact";
import { render } from "preact";
import { useState } from "preact/hooks";
import type { Theme } from "./colours";
import { COLOURS } from "./colours";
import type { AblateAnswer } from "./contract";
import { paint } from "./paint";
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

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** A page of one file: the picture, and nothing to fetch. */
export function htmlText(scene: Scene, theme: Theme): string {
  const { ground, ink } = COLOURS[theme];
  const style = `body{margin:2rem auto;max-width:${Math.ceil(scene.width) + 48}px;background:${ground};color:${ink};font-family:sans-serif}h1{font-size:1.2rem}svg{max-width:100%;height:auto}`;
  return (
    `<!doctype html>\n<html lang="${document.documentElement.lang}">\n<meta charset="utf-8">\n` +
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n' +
    `<title>${escaped(scene.title)} · Regard</title>\n<style>${style}</style>\n` +
    `<h1>${escaped(scene.title)}</h1>\n${svgText(scene, theme)}`
  );
}

function savePng(scene: Scene, theme: Theme, name: string): void {
  const whole = framed(scene);
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
  scene: Scene;
  theme: Theme;
  name: string;
  say: Say;
  trace?: Trace & { ablation?: AblateAnswer };
  /** only where a model is served: it makes a page with every picture of the sentence */
  page?: (() => Promise<Blob>) | null;
}

export function Save({ scene, theme, name, say, trace, page = null }: Props): JSX.Element {
  const [trouble, setTrouble] = useState<Error | null>(null);
  const savePage = (): void => {
    setTrouble(null);
    if (page === null) text(htmlText(scene, theme), "text/html", "html");
    else {
      page()
        .then((made) => download(made, `${name}.html`))
        .catch((error: unknown) => setTrouble(asError(error)));
    }
  };
  const text = (content: string, type: string, ending: string): void =>
    download(new Blob([content], { type }), `${name}.${ending}`);
  return (
    <div class="save" role="group" aria-label={say("save")}>
      <span class="soft">{say("save")}</span>
      <button
        type="button"
        class="quiet"
        onClick={() => text(svgText(scene, theme), "image/svg+xml", "svg")}
      >
        SVG
      </button>
      <button type="button" class="quiet" onClick={() => savePng(scene, theme, name)}>
        PNG
      </button>
      {trace && (
        <button
          type="button"
          class="quiet"
          onClick={() => text(JSON.stringify(trace), "application/json", "json")}
        >
          JSON
        </button>
      )}
      <button type="button" class="quiet" onClick={savePage}>
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
