// A figure larger than its frame: it scrolls, its edges say where there is more, names stay in sight.
import { type ComponentChildren, type JSX, createContext } from "preact";
import { useContext, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Say } from "./words";
import type { Zoom } from "./zoom";

/** How the page speaks, for what is too deep within it to be told. */
export const Saying = createContext<Say>((word) => word);

const SIDES = ["left", "right", "up", "down"] as const;
type Side = (typeof SIDES)[number];

interface Props {
  children: ComponentChildren;
  /** what stays in sight while a picture of such a width is scrolled; it bounds the frame's height */
  pinned?: (width: number) => ComponentChildren;
  zoom?: Zoom;
  /** of a picture that was drawn anew to be zoomed */
  drawn?: number | undefined;
}

interface Measured {
  more: readonly Side[];
  isLarger: boolean;
  /** of the picture on the screen */
  width: number;
}

function measured(frame: HTMLElement): Measured {
  const { scrollLeft, scrollTop, scrollWidth, scrollHeight, clientWidth, clientHeight } = frame;
  const [across, down] = [scrollWidth - clientWidth, scrollHeight - clientHeight];
  const more: readonly Side[] = [
    ...(scrollLeft > 2 ? (["left"] as const) : []),
    ...(scrollLeft < across - 2 ? (["right"] as const) : []),
    ...(scrollTop > 2 ? (["up"] as const) : []),
    ...(scrollTop < down - 2 ? (["down"] as const) : []),
  ];
  const picture = frame.firstElementChild?.getBoundingClientRect().width ?? 0;
  return { more, isLarger: across > 2 || down > 2, width: picture };
}

export function Scrolling({ children, pinned, zoom, drawn }: Props): JSX.Element {
  const say = useContext(Saying);
  const own = useRef<HTMLDivElement>(null);
  const frame = zoom?.frame ?? own;
  const [{ more, isLarger, width }, set] = useState<Measured>({
    more: [],
    isLarger: false,
    width: 0,
  });
  useLayoutEffect(() => {
    const holder = frame.current;
    if (holder === null) return;
    const read = (): void => {
      const now = measured(holder);
      set((before) => (JSON.stringify(before) === JSON.stringify(now) ? before : now));
    };
    const watch = new ResizeObserver(read);
    watch.observe(holder);
    if (holder.firstElementChild) watch.observe(holder.firstElementChild);
    holder.addEventListener("scroll", read, { passive: true });
    return () => {
      watch.disconnect();
      holder.removeEventListener("scroll", read);
    };
  }, []);
  const isZoomed = zoom !== undefined && zoom.scale !== 1;
  return (
    <div class="scroller">
      <div class="frame">
        <div
          ref={frame}
          class={`scrolling${pinned ? " pinning" : ""}${isZoomed ? " zoomed" : ""}`}
          style={isZoomed ? zoomedStyle(zoom, drawn) : undefined}
        >
          {children}
          {isLarger && pinned?.(width)}
          {zoom && <span class="spacer" aria-hidden="true" />}
        </div>
        {more.map((side) => (
          <span key={side} class={`edge ${side}`} aria-hidden="true" />
        ))}
      </div>
      {isLarger && <p class="soft scroll-hint">{say("scrollHint")}</p>}
    </div>
  );
}

/** The frame keeps its height, so that nothing below it moves; what is made smaller needs less. */
function zoomedStyle({ fit, scale }: Zoom, drawn?: number): Record<string, string> {
  if (fit === null) return {};
  return {
    "--zoomed": `${Math.round(100 * (drawn ?? fit.width * scale)) / 100}px`,
    ...(scale > 1 ? { height: `${fit.height}px` } : {}),
  };
}
