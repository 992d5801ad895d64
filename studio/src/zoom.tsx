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

/** A place of the picture, as shares of its width and height, and where it is to stay. */
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

/** `chosen` says where the chosen cell is, which stays in place when nothing is pointed at. */
export function useZoom(chosen?: () => Point | null, most = 12): Zoom {
  const [scale, setScale] = useState(1);
  const frame = useRef<HTMLDivElement>(null);
  const now = useRef(1); // several gestures may come between two pictures
  const fit = useRef<Fit | null>(null);
  const held = useRef<Held | null>(null);
  const pointer = useRef<Point | null>(null);
  const asked = useRef(chosen);
  asked.current = chosen;

  const set = useCallback((next: number, at?: Point): void => {
    const holder = frame.current;
    const picture = holder?.firstElementChild;
    if (!holder || !picture || next === now.current) return;
    if (now.current === 1) {
      const width = Number.parseFloat(getComputedStyle(picture).width);
      fit.current = { width, height: holder.getBoundingClientRect().height };
    }
    const place = at ?? pointer.current ?? asked.current?.() ?? middle(holder);
    const box = picture.getBoundingClientRect();
    held.current = {
      across: (place[0] - box.left) / box.width,
      down: (place[1] - box.top) / box.height,
      at: place,
    };
    now.current = next;
    setScale(next);
  }, []);
  const by = useCallback(
    (factor: number, at?: Point): void => {
      const next = Math.min(most, Math.max(LEAST, now.current * factor));
      set(Math.abs(next - 1) < 0.01 ? 1 : next, at);
    },
    [set],
  );
  const reset = useCallback((): void => set(1), [set]);
  useLayoutEffect(() => {
    if (frame.current !== null && held.current !== null) keep(frame.current, held.current, scale);
    held.current = null;
  }, [scale]);
  useGestures(frame, pointer, by, reset);
  return { scale, frame, fit: fit.current, by, reset };
}

/** Scroll until what was held is where it was; beyond the picture's end there is room for that. */
function keep(frame: HTMLElement, held: Held, scale: number): void {
  const spacer = frame.querySelector<HTMLElement>(".spacer");
  const picture = frame.firstElementChild;
  if (!picture || !spacer) return;
  spacer.style.width = "0";
  const box = picture.getBoundingClientRect();
  const left = frame.scrollLeft + box.left + held.across * box.width - held.at[0];
  const top = frame.scrollTop + box.top + held.down * box.height - held.at[1];
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
