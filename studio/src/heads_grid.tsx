// All layers and heads of one kind of attention on a canvas; one is chosen by mouse or keys.
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { COLOURS, type Theme, headColour } from "./colours";
import type { Scale } from "./figures/scale";
import { Legend } from "./legend";
import { bitmap, paintHatching } from "./paint";
import { type Pointed, hasHover, isTouch } from "./pointing";
import { FONTS, type Mask } from "./scene";
import { Scrolling } from "./scrolling";
import { type Reading, tableOf, topOf } from "./table";
import { type Kind, type Site, type Trace, layersOf, siteOf } from "./trace";
import { type Say, sayHeads } from "./words";
import { useZoom } from "./zoom";

interface Props {
  trace: Trace;
  kind: Kind;
  layer: number;
  head: number | null;
  theme: Theme;
  say: Say;
  pointed: Pointed | null;
  reading: Reading;
  /** the end of the scale, where it is not the largest weight of these heads */
  top?: number;
  /** of differences, which go to both sides of zero */
  isSigned?: boolean;
  choose: (change: { layer: number; head: number | null }) => void;
}

/** One head, by its layer and number. */
interface Place {
  layer: number;
  head: number;
}

const APART = 10;
const LABELS = 26;
const MOST_ZOOM = 4; // a canvas has an end
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

/** Which tokens no head of this kind may look at. */
const maskOver = (kind: Kind, nRows: number, nColumns: number): Mask | undefined =>
  kind === "decoder"
    ? Array.from({ length: nRows }, (_, i) => Array.from({ length: nColumns }, (_, j) => j > i))
    : undefined;

export function HeadsGrid(props: Props): JSX.Element {
  const { trace, kind, layer, head, theme, say, pointed, reading, choose } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const zoom = useZoom({
    most: MOST_ZOOM,
    cells: () => {
      const box = canvas.current?.getBoundingClientRect();
      if (!box) return null;
      const [x, y] = [box.left + LABELS, box.top + ABOVE];
      return { x, y, width: size + APART, height: tall + APART };
    },
  });
  const [over, setOver] = useState<Place | null>(null);
  const [room, setRoom] = useState(420);
  const layers = layersOf(trace, kind);
  const nHeads = Math.max(1, ...layers.map((one) => siteOf(trace, kind, one)?.weights.length ?? 0));
  const [nRows, nColumns] = [
    siteOf(trace, kind, layer)?.weights[0]?.length ?? 1,
    siteOf(trace, kind, layer)?.weights[0]?.[0]?.length ?? 1,
  ];
  const size = zoom.scale * Math.max(24, Math.min(150, (room - LABELS) / nHeads - APART));
  const tall = Math.max(16 * zoom.scale, Math.min(1.3 * size, (size * nRows) / nColumns));
  const width = LABELS + nHeads * (size + APART);
  const height = ABOVE + layers.length * (tall + APART);

  const high = props.top ?? topOf(trace, kind);
  const scale: Scale = props.isSigned
    ? { ramp: "signed", low: -high, high }
    : { ramp: "weights", low: 0, high };
  const masked = useMemo(() => maskOver(kind, nRows, nColumns), [kind, nRows, nColumns]);
  const images = useMemo(
    () =>
      new Map(
        layers.flatMap((one) =>
          (siteOf(trace, kind, one)?.weights ?? []).map((values, h) => [
            `${one}.${h}`,
            bitmap({ kind: "heat", values, masked, ...scale }, theme),
          ]),
        ),
      ),
    [trace, kind, theme, high, props.isSigned, masked],
  );

  useEffect(() => {
    const holder = canvas.current?.parentElement;
    if (!holder) return;
    const watch = new ResizeObserver(() => setRoom(holder.clientWidth));
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
        const values = siteOf(trace, kind, one)?.weights[h] ?? [];
        paintHatching(context, { x, y, width: size, height: tall, values, masked }, theme);
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

  const at = (x: number, y: number): Place | null => {
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
  const isSame = (one: Place | null, other: Place | null): boolean =>
    one?.layer === other?.layer && one?.head === other?.head;
  const isUniform = head !== null && (siteOf(trace, kind, layer)?.is_uniform[head] ?? false);
  const chosen = sayHeads(say, head, nHeads);
  return (
    <div class="heads">
      <Scrolling
        zoom={zoom}
        pinned={() => <PinnedHeads {...{ layers, nHeads, size, tall, width, height, theme }} />}
      >
        <canvas
          ref={canvas}
          tabIndex={0}
          role="img"
          aria-label={`${say("heads")}: ${say("layer", { n: layer })}${say("comma")}${chosen}`}
          style={{ width: `${width}px`, height: `${height}px` }}
          onPointerMove={(event) => {
            const found = at(event.offsetX, event.offsetY);
            if (!isTouch(event) && !isSame(found, over)) setOver(found);
          }}
          onPointerLeave={(event) => {
            if (!isTouch(event)) setOver(null);
          }}
          onClick={(event) => {
            const found = at(event.offsetX, event.offsetY);
            if (isTouch(event) && !isSame(found, over)) setOver(found);
            else if (found)
              choose(found.layer === layer && found.head === head ? { layer, head: null } : found);
          }}
          onKeyDown={move}
        />
      </Scrolling>
      <Legend scale={scale} hasMasked={masked !== undefined} {...{ theme, say, zoom }} />
      <p class="soft told" aria-live="polite">
        {over === null
          ? say(hasHover() ? "headHint" : "headHintTouch")
          : headSaid(trace, kind, over, say)}
      </p>
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

/** Where a head looks most: its words and the weight. */
function headSaid(trace: Trace, kind: Kind, { layer, head }: Place, say: Say): string {
  const site = siteOf(trace, kind, layer);
  const weights = site?.weights[head];
  if (!site || !weights) return "";
  const [row, column] = furthest(weights);
  const { rows, columns } = tableOf(trace, site, { merges: false, heads: [head] });
  return say("headSaid", {
    ...{ layer, head },
    row: rows[row]?.text ?? "",
    column: columns[column]?.text ?? "",
    value: (weights[row]?.[column] ?? 0).toFixed(3).replace("-", "−"),
  });
}

/** The cell that is furthest from zero. */
function furthest(weights: Site["weights"][number]): readonly [number, number] {
  let best = [0, 0] as const as readonly [number, number];
  weights.forEach((row, i) =>
    row.forEach((value, j) => {
      if (Math.abs(value) > Math.abs(weights[best[0]]?.[best[1]] ?? 0)) best = [i, j];
    }),
  );
  return best;
}

interface PinnedProps {
  layers: readonly number[];
  nHeads: number;
  size: number;
  tall: number;
  width: number;
  height: number;
  theme: Theme;
}

/** The numbers of heads and layers again: they stay in sight while the grid is scrolled. */
function PinnedHeads(props: PinnedProps): JSX.Element {
  const { layers, nHeads, size, tall, width, height, theme } = props;
  const colours = COLOURS[theme];
  const shared = { "aria-hidden": true, "font-family": FONTS, "font-size": 12 } as const;
  const across = Array.from({ length: nHeads }, (_, h) => LABELS + h * (size + APART) + size / 2);
  return (
    <>
      <svg class="pinned columns" width={width} height={ABOVE - 4} {...shared}>
        {across.map((x, h) => (
          <g key={h}>
            <rect x={x - 11} y={5} width={8} height={8} fill={colours[headColour(h)]} />
            <text x={x + 5} y={10} dy="0.35em" text-anchor="middle" fill={colours.soft}>
              {h}
            </text>
          </g>
        ))}
      </svg>
      <svg class="pinned rows" width={LABELS - 4} height={height} {...shared}>
        {layers.map((one, i) => (
          <text
            key={one}
            x={10}
            y={ABOVE + i * (tall + APART) + tall / 2}
            dy="0.35em"
            text-anchor="middle"
            fill={colours.soft}
          >
            {one}
          </text>
        ))}
      </svg>
      <svg class="pinned corner" width={LABELS - 4} height={ABOVE - 4} aria-hidden="true" />
    </>
  );
}
