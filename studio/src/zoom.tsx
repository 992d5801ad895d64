// Zooming a picture within its frame: what is pointed at stays where it is.
import type { JSX } from "preact";
import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Say } from "./words";

/** A place on the screen. */
type Point = readonly [number, number];

export interface Zoom {
  /** 1 is the picture as it fits its frame */
  scale: number;
  frame: { current: HTMLDivElement | null };
  /** the picture's width as it fits, and the frame's height then; null until it was zoomed */
  fit: Fit | null;
  by: (factor: number, at?: Point) => void;
  reset: () => void;
}

interface Fit {
  width: number;
  height: number;
}

/** Where the first cell begins on the screen, and how wide and high a cell is there. */
export interface Cells {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A place of the picture in cells, and where it is to stay. */
interface Held {
  across: number;
  down: number;
  at: Point;
}

const LEAST = 0.25;
export const STEP = 1.25;

function middle(frame: HTMLElement): Point {
  const box = frame.getBoundingClientRect();
  return [box.left + frame.clientWidth / 2, box.top + frame.clientHeight / 2];
}

interface Wish {
  /** names do not grow with the cells, so what is kept in place is told by these */
  cells: () => Cells | null;
  /** the chosen cell, by row and column: it stays in place where nothing is pointed at */
  chosen?: readonly [number, number] | null;
  most?: number;
}

export function useZoom(wish: Wish): Zoom {
  const [scale, setScale] = useState(1);
  const frame = useRef<HTMLDivElement>(null);
  const now = useRef(1); // several gestures may come between two pictures
  const fit = useRef<Fit | null>(null);
  const held = useRef<Held | null>(null);
  const pointer = useRef<Point | null>(null);
  const asked = useRef(wish);
  asked.current = wish;

  const set = useCallback((next: number, at?: Point): void => {
    const holder = frame.current;
    const picture = holder?.firstElementChild;
    if (!holder || !picture || next === now.current) return;
    if (now.current === 1) {
      const width = Number.parseFloat(getComputedStyle(picture).width);
      fit.current = { width, height: holder.getBoundingClientRect().height };
    }
    const cells = asked.current.cells();
    const place = at ?? pointer.current ?? chosenAt(asked.current, cells) ?? middle(holder);
    held.current = cells && {
      across: (place[0] - cells.x) / cells.width,
      down: (place[1] - cells.y) / cells.height,
      at: place,
    };
    now.current = next;
    setScale(next);
  }, []);
  const by = useCallback(
    (factor: number, at?: Point): void => {
      const most = asked.current.most ?? 12;
      const next = Math.min(most, Math.max(LEAST, now.current * factor));
      set(Math.abs(next - 1) < 0.01 ? 1 : next, at);
    },
    [set],
  );
  const reset = useCallback((): void => set(1), [set]);
  useLayoutEffect(() => {
    const cells = asked.current.cells();
    if (frame.current !== null && held.current !== null && cells !== null) {
      keep(frame.current, held.current, cells, scale);
    }
    held.current = null;
  }, [scale]);
  useGestures(frame, pointer, by, reset);
  return { scale, frame, fit: fit.current, by, reset };
}

function chosenAt({ chosen }: Wish, cells: Cells | null): Point | null {
  if (!chosen || cells === null) return null;
  const [row, column] = chosen;
  return [cells.x + (column + 0.5) * cells.width, cells.y + (row + 0.5) * cells.height];
}

/** Scroll until what was held is where it was; beyond the picture's end there is room for that. */
function keep(frame: HTMLElement, held: Held, cells: Cells, scale: number): void {
  const spacer = frame.querySelector<HTMLElement>(".spacer");
  if (!spacer) return;
  const left = frame.scrollLeft + cells.x + held.across * cells.width - held.at[0];
  const top = frame.scrollTop + cells.y + held.down * cells.height - held.at[1];
  spacer.style.width = "0";
  if (scale > 1 && left > frame.scrollWidth - frame.clientWidth) {
    spacer.style.width = `${left + frame.clientWidth}px`;
  }
  frame.scrollTo(left, top);
}

/** Ctrl and the wheel, two fingers, and the keys + − 0. */
function useGestures(
  frame: { current: HTMLDivElement | null },
  pointer: { current: Point | null },
  by: Zoom["by"],
  reset: () => void,
): void {
  useLayoutEffect(() => {
    const holder = frame.current;
    if (holder === null) return;
    let apart = 0;
    const wheel = (event: WheelEvent): void => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      const factor = Math.exp(-0.0025 * event.deltaY);
      by(Math.min(2, Math.max(0.5, factor)), [event.clientX, event.clientY]);
    };
    const fingers = (event: TouchEvent): readonly [number, Point] | null => {
      const [a, b] = event.touches;
      if (!a || !b) return null;
      const distance = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
      return [distance, [(a.clientX + b.clientX) / 2, (a.clientY + b.clientY) / 2]];
    };
    const touch = (event: TouchEvent): void => {
      apart = fingers(event)?.[0] ?? 0;
    };
    const pinch = (event: TouchEvent): void => {
      const found = fingers(event);
      if (found === null || apart === 0) return;
      if (event.cancelable) event.preventDefault();
      by(found[0] / apart, found[1]);
      apart = found[0];
    };
    const press = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.key === "+" || event.key === "=") by(STEP);
      else if (event.key === "-") by(1 / STEP);
      else if (event.key === "0") reset();
      else return;
      event.preventDefault();
    };
    const move = (event: PointerEvent): void => {
      pointer.current = event.pointerType === "touch" ? null : [event.clientX, event.clientY];
    };
    const leave = (): void => {
      pointer.current = null;
    };
    holder.addEventListener("wheel", wheel, { passive: false });
    holder.addEventListener("touchstart", touch, { passive: true });
    holder.addEventListener("touchmove", pinch, { passive: false });
    holder.addEventListener("keydown", press);
    holder.addEventListener("pointermove", move);
    holder.addEventListener("pointerleave", leave);
    return () => {
      holder.removeEventListener("wheel", wheel);
      holder.removeEventListener("touchstart", touch);
      holder.removeEventListener("touchmove", pinch);
      holder.removeEventListener("keydown", press);
      holder.removeEventListener("pointermove", move);
      holder.removeEventListener("pointerleave", leave);
    };
  }, []);
}

export function ZoomButtons({ zoom, say }: { zoom: Zoom; say: Say }): JSX.Element {
  const { scale, by, reset } = zoom;
  return (
    <span class="zooming" role="group" aria-label={say("zoom")}>
      <button type="button" class="quiet" aria-label={say("zoomOut")} onClick={() => by(1 / STEP)}>
        −
      </button>
      <button
        type="button"
        class="quiet number"
        title={say("zoomHint")}
        aria-label={say("zoomReset", { n: Math.round(100 * scale) })}
        disabled={scale === 1}
        onClick={reset}
      >
        {Math.round(100 * scale)} %
      </button>
      <button type="button" class="quiet" aria-label={say("zoomIn")} onClick={() => by(STEP)}>
        +
      </button>
    </span>
  );
}
