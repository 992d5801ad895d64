// A text whose every word shows what it looked at: by its colour; lines lead to the strongest.
import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Theme, hex, rampTable, readable, shade } from "./colours";
import { isTouch } from "./pointing";
import { type StoryWord, mostLooked } from "./story_table";

interface Props {
  words: readonly StoryWord[];
  /** what the focused word looks at, or null if none is */
  row: readonly number[] | null;
  focus: number | null;
  theme: Theme;
  /** the weight of the strongest colour */
  top: number;
  label: string;
  /** a mark over words, as the number of a gap */
  marked?: (index: number) => boolean;
  point: (index: number | null) => void;
  choose: (index: number) => void;
}

interface Line {
  path: string;
  weight: number;
}

const N_LINES = 6;
const PALE = 0.15; // up to here every ink of the page can be read
const LEAST = 0.06; // of the attention; thinner lines are not seen

/** How a word looks that gets such a share. */
export function shaded(
  weight: number,
  top: number,
  theme: Theme,
): { background: string; color?: string } {
  const place = shade(weight, 0, top);
  const background = hex(rampTable(theme, "weights")[place] ?? [0, 0, 0]);
  return weight / top < PALE
    ? { background }
    : { background, color: readable(theme, "weights", place) };
}

/** 0 for what was sure, up to 4 for what was a surprise. */
export function surprise(logProbability: number | null): number {
  if (logProbability === null) return 0;
  const odds = Math.exp(logProbability);
  return odds >= 0.5 ? 0 : odds >= 0.2 ? 1 : odds >= 0.05 ? 2 : odds >= 0.01 ? 3 : 4;
}

export function Story(props: Props): JSX.Element {
  const { words, row, focus, theme, top, label, marked, point, choose } = props;
  const place = useRef<HTMLDivElement>(null);
  const lines = useLines(place, row, focus);
  const move = (event: KeyboardEvent): void => {
    const last = words.length - 1;
    const at = focus ?? -1;
    const next = {
      ArrowRight: Math.min(last, at + 1),
      ArrowDown: Math.min(last, at + 1),
      ArrowLeft: Math.max(0, at - 1),
      ArrowUp: Math.max(0, at - 1),
      Home: 0,
      End: last,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    point(null);
    choose(next);
  };
  return (
    <div
      ref={place}
      class="story"
      tabIndex={0}
      role="group"
      aria-label={label}
      onKeyDown={move}
      onPointerLeave={(event) => {
        if (!isTouch(event)) point(null);
      }}
    >
      <svg class="links" aria-hidden="true">
        {lines.map(({ path, weight }) => (
          <path key={path} d={path} stroke-width={1 + 5 * weight} opacity={0.3 + 0.6 * weight} />
        ))}
      </svg>
      {words.map((word, i) => {
        const weight = row?.[i] ?? 0;
        const isSeen = row !== null && i !== focus && weight >= 0.005;
        const classes = [
          "word",
          `surprise${surprise(word.logProbability)}`,
          word.isGiven ? "given" : "",
          word.is_special ? "special" : "",
          word.is_unknown ? "unknown" : "",
          i === focus ? "pointed" : "",
          marked?.(i) ? "gap" : "",
        ];
        return (
          <>
            {word.gap}
            <span
              key={i}
              class={classes.filter((one) => one).join(" ")}
              data-word={i}
              {...(isSeen ? { style: shaded(weight, top, theme) } : {})}
              onPointerEnter={() => point(i)}
              onClick={() => choose(i)}
            >
              {word.text}
            </span>
          </>
        );
      })}
    </div>
  );
}

/** Curves from a word to those that it looks at most, over the words as they stand on the page. */
function useLines(
  place: { current: HTMLDivElement | null },
  row: readonly number[] | null,
  focus: number | null,
): readonly Line[] {
  const [lines, set] = useState<readonly Line[]>([]);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const holder = place.current;
    if (holder === null) return;
    const watch = new ResizeObserver(() => setWidth(holder.clientWidth));
    watch.observe(holder);
    return () => watch.disconnect();
  }, []);
  useLayoutEffect(() => {
    const holder = place.current;
    if (holder === null || row === null || focus === null) {
      set((before) => (before.length === 0 ? before : []));
      return;
    }
    const box = holder.getBoundingClientRect();
    const over = (i: number): { x: number; y: number } | null => {
      const found = holder.querySelector(`[data-word="${i}"]`)?.getBoundingClientRect();
      if (!found) return null;
      return { x: found.left - box.left + found.width / 2, y: found.top - box.top + 3 };
    };
    const from = over(focus);
    set(
      mostLooked(row, N_LINES)
        .filter((i) => i !== focus && (row[i] ?? 0) >= LEAST)
        .flatMap((i): Line[] => {
          const to = over(i);
          if (from === null || to === null) return [];
          const rise = Math.min(46, 12 + 0.12 * Math.abs(from.x - to.x));
          const top = Math.min(from.y, to.y) - rise;
          const path = `M${from.x} ${from.y}C${from.x} ${top} ${to.x} ${top} ${to.x} ${to.y}`;
          return [{ path, weight: row[i] ?? 0 }];
        }),
    );
  }, [row, focus, width]);
  return lines;
}
