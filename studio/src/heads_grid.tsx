// All layers and heads of one kind of attention on a canvas; one is chosen by mouse or keys.
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { COLOURS, type Theme, headColour } from "./colours";
import { bitmap } from "./paint";
import type { Pointed } from "./pointing";
import { FONTS } from "./scene";
import { Scrolling } from "./scrolling";
import type { Reading } from "./table";
import { type Kind, type Trace, layersOf, siteOf } from "./trace";
import { type Say, sayHeads } from "./words";

interface Props {
  trace: Trace;
  kind: Kind;
  layer: number;
  head: number | null;
  theme: Theme;
  say: Say;
  pointed: Pointed | null;
  reading: Reading;
  choose: (change: { layer: number; head: number | null }) => void;
}

const FRAME = 3; // around what scrolls, for the ring of the focus
const APART = 10;
const LABELS = 26;
const ABOVE = 20;

/** The rows and columns of token weights that a word stands for. */
function bands(
  pointed: Pointed | null,
  kind: Kind,
  reading: Reading,
): { rows: number[]; columns: number[] } {
  if (pointed === null) return { rows: [], columns: [] };
  const { side, places } = pointed;
  const next = places.map((place) => place + 1); // what was written is read one step later
  if (kind === "encoder")
    return side === "source"
      ? { rows: [...places], columns: [...places] }
      : { rows: [], columns: [] };
  if (side === "source") return { rows: [], columns: kind === "cross" ? [...places] : [] };
  const rows = reading === "predicting" ? [...places] : next;
  return { rows, columns: kind === "decoder" ? next : [] };
}

export function HeadsGrid(props: Props): JSX.Element {
  const { trace, kind, layer, head, theme, say, pointed, reading, choose } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [room, setRoom] = useState(420);
  const layers = layersOf(trace, kind);
  const nHeads = Math.max(1, ...layers.map((one) => siteOf(trace, kind, one)?.weights.length ?? 0));
  const [nRows, nColumns] = [
    siteOf(trace, kind, layer)?.weights[0]?.length ?? 1,
    siteOf(trace, kind, layer)?.weights[0]?.[0]?.length ?? 1,
  ];
  const size = Math.max(24, Math.min(150, (room - LABELS) / nHeads - APART));
  const tall = Math.max(16, Math.min(1.3 * size, (size * nRows) / nColumns));
  const width = LABELS + nHeads * (size + APART);
  const height = ABOVE + layers.length * (tall + APART);

  const images = useMemo(
    () =>
      new Map(
        layers.flatMap((one) =>
          (siteOf(trace, kind, one)?.weights ?? []).map((values, h) => [
            `${one}.${h}`,
            bitmap({ kind: "heat", values, low: 0, high: 1, ramp: "weights" }, theme),
          ]),
        ),
      ),
    [trace, kind, theme],
  );

  useEffect(() => {
    const holder = canvas.current?.parentElement;
    if (!holder) return;
    const watch = new ResizeObserver(() => setRoom(holder.clientWidth - 2 * FRAME));
    watch.observe(holder);
    return () => watch.disconnect();
  }, []);

  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!canvas.current || !context) return;
    const sharpness = Math.max(1, devicePixelRatio);
    canvas.current.width = Math.round(width * sharpness);
    canvas.current.height = Math.round(height * sharpness);
    context.scale(sharpness, sharpness);
    context.imageSmoothingEnabled = false;
    const colours = COLOURS[theme];
    context.font = `12px ${FONTS}`;
    context.textBaseline = "middle";
    context.textAlign = "center";
    for (let h = 0; h < nHeads; h++) {
      const x = LABELS + h * (size + APART);
      context.fillStyle = colours[headColour(h)];
      context.fillRect(x + size / 2 - 11, 5, 8, 8);
      context.fillStyle = colours.soft;
      context.fillText(String(h), x + size / 2 + 5, 10);
    }
    const { rows, columns } = bands(pointed, kind, reading);
    layers.forEach((one, i) => {
      const y = ABOVE + i * (tall + APART);
      context.fillStyle = colours.soft;
      context.fillText(String(one), 10, y + tall / 2);
      for (let h = 0; h < nHeads; h++) {
        const x = LABELS + h * (size + APART);
        const image = images.get(`${one}.${h}`);
        if (!image) continue;
        context.drawImage(image, x, y, size, tall);
        context.strokeStyle = colours.mark;
        context.lineWidth = 1.5;
        for (const row of rows)
          if (row < image.height)
            context.strokeRect(x, y + (row * tall) / image.height, size, tall / image.height);
        for (const column of columns)
          if (column < image.width)
            context.strokeRect(x + (column * size) / image.width, y, size / image.width, tall);
        const isChosen = one === layer && (head === null || head === h);
        context.strokeStyle = isChosen ? colours.look : colours.line;
        context.lineWidth = isChosen ? 2.5 : 1;
        context.strokeRect(x - 2, y - 2, size + 4, tall + 4);
      }
    });
  }, [images, width, height, theme, layer, head, pointed, reading]);

  const at = (x: number, y: number): { layer: number; head: number } | null => {
    const h = Math.floor((x - LABELS) / (size + APART));
    const one = layers[Math.floor((y - ABOVE) / (tall + APART))];
    return one === undefined || h < 0 || h >= nHeads ? null : { layer: one, head: h };
  };
  const move = (event: KeyboardEvent): void => {
    const [dLayer = 0, dHead = 0] = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
    }[event.key] ?? [0, 0];
    if (dLayer || dHead) {
      event.preventDefault();
      const i = Math.min(layers.length - 1, Math.max(0, layers.indexOf(layer) + dLayer));
      const h = dHead
        ? Math.min(nHeads - 1, Math.max(0, (head ?? (dHead > 0 ? -1 : nHeads)) + dHead))
        : head;
      choose({ layer: layers[i] ?? layer, head: h });
    } else if (event.key === "Escape") {
      choose({ layer, head: null });
    }
  };
  const isUniform = head !== null && (siteOf(trace, kind, layer)?.is_uniform[head] ?? false);
  const chosen = sayHeads(say, head, nHeads);
  return (
    <div class="heads">
      <Scrolling>
        <canvas
          ref={canvas}
          tabIndex={0}
          role="img"
          aria-label={`${say("heads")}: ${say("layer", { n: layer })}${say("comma")}${chosen}`}
          style={{ width: `${width}px`, height: `${height}px` }}
          onClick={(event) => {
            const found = at(event.offsetX, event.offsetY);
            if (found)
              choose(found.layer === layer && found.head === head ? { layer, head: null } : found);
          }}
          onKeyDown={move}
        />
      </Scrolling>
      <p class="soft" aria-live="polite">
        {say("layer", { n: layer }) + say("comma") + chosen}
        {isUniform ? ` · ${say("uniform")}` : ""}
        {head !== null && (
          <>
            {" · "}
            <button type="button" class="plain" onClick={() => choose({ layer, head: null })}>
              {say("mean")}
            </button>
          </>
        )}
      </p>
    </div>
  );
}
