// The matrix one can point at: hover, arrow keys, click.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { COLOURS, type Theme } from "./colours";
import type { Squares } from "./figures/matrix";
import { Picture, READABLE } from "./picture";
import { PinnedNames } from "./pinned_names";
import { Scrolling } from "./scrolling";
import type { Matrix, Table } from "./table";
import type { Say, Word } from "./words";

interface Props {
  squares: Squares;
  values: Matrix;
  table: Pick<Table, "rows" | "columns">;
  theme: Theme;
  say: Say;
  ends: { row: number | null; column: number | null };
  selected: { row: number | null; column: number | null };
  hover: (end: "row" | "column", index: number | null) => void;
  select: (row: number, column: number) => void;
  open: (row: number, column: number) => void;
  /** which cell the pointer is over */
  over?: (cell: readonly [number, number] | null) => void;
  /** how a cell is told, by what its row is */
  telling?: Word;
  /** what is said of a cell, and when there is none */
  said?: (row: number, column: number) => string;
  hint?: string;
}

export function MatrixPicture(props: Props): JSX.Element {
  const { squares, values, table, theme, say, ends, selected, hover, select, open } = props;
  const { scene, left, top, cell, nRows, nColumns } = squares;
  const [over, setOverHere] = useState<readonly [number, number] | null>(null);
  const setOver = (cell: readonly [number, number] | null): void => {
    setOverHere(cell);
    props.over?.(cell);
  };
  const colours = COLOURS[theme];
  const svg = useRef<SVGSVGElement>(null);
  const isMoved = useRef(true); // by keys, or by whoever opened the page at a cell
  const place = (event: MouseEvent): [number, number] => {
    const box = svg.current?.getBoundingClientRect() ?? new DOMRect();
    const scale = scene.width / box.width;
    return [
      Math.floor(((event.clientY - box.top) * scale - top) / cell),
      Math.floor(((event.clientX - box.left) * scale - left) / cell),
    ];
  };
  const isCell = ([i, j]: readonly [number, number]): boolean =>
    i >= 0 && j >= 0 && i < nRows && j < nColumns;
  const shown =
    over ??
    (selected.row !== null && selected.column !== null
      ? ([selected.row, selected.column] as const)
      : null);
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[
      event.key
    ];
    const [i, j] = [selected.row ?? 0, selected.column ?? 0];
    if (step) {
      event.preventDefault();
      setOver(null);
      isMoved.current = true;
      const isFirst = selected.row === null || selected.column === null;
      const [di, dj] = isFirst ? [0, 0] : [step[0] ?? 0, step[1] ?? 0];
      select(Math.min(nRows - 1, Math.max(0, i + di)), Math.min(nColumns - 1, Math.max(0, j + dj)));
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      if (selected.row !== null && selected.column !== null) open(selected.row, selected.column);
    }
  };
  const band = (row: number | null, column: number | null): JSX.Element | null => {
    if (row === null && column === null) return null;
    return (
      <rect
        x={left + (column ?? 0) * cell}
        y={top + (row ?? 0) * cell}
        width={column === null ? nColumns * cell : cell}
        height={row === null ? nRows * cell : cell}
        fill="none"
        stroke={colours.mark}
        stroke-width={2}
        rx={2}
      />
    );
  };
  const [i, j] = shown ?? [-1, -1];
  const usual = (): string =>
    say(props.telling ?? "cellSaid", {
      row: table.rows[i]?.text ?? "",
      column: table.columns[j]?.text ?? "",
      value: (values[i]?.[j] ?? 0).toFixed(3),
    });
  const said = shown === null ? (props.hint ?? say("cellHint")) : (props.said?.(i, j) ?? usual());
  useEffect(() => {
    const { row, column } = selected;
    if (isMoved.current && row !== null && column !== null) {
      reveal(svg.current, squares, row, column);
    }
    isMoved.current = false;
  }, [selected.row, selected.column]);
  const pointName = (event: PointerEvent, end: "row" | "column"): void => {
    const [i, j] = place(event);
    const [at, count] = end === "row" ? [i, nRows] : [j, nColumns];
    hover(end, at >= 0 && at < count ? at : null);
  };
  const leave = (): void => {
    setOver(null);
    hover("row", null);
  };
  return (
    <>
      <Scrolling
        pinned={(width) => (
          <PinnedNames {...{ squares, theme, width }} point={pointName} leave={leave} />
        )}
      >
        <Picture
          ref={svg}
          scene={scene}
          theme={theme}
          class="picture pointing"
          least={READABLE / squares.size}
          tabindex={0}
          onKeyDown={move}
          onPointerMove={(event) => {
            const at = place(event);
            const next = isCell(at) ? at : null;
            if (next?.[0] !== over?.[0] || next?.[1] !== over?.[1]) setOver(next);
            if (at[0] < 0) pointName(event, "column");
            else if (next !== null || at[1] < 0) pointName(event, "row");
            else hover("row", null);
          }}
          onPointerLeave={leave}
          onClick={(event) => {
            const at = place(event);
            if (isCell(at)) open(...at);
          }}
        >
          {band(ends.row, ends.column)}
          {shown !== null && (
            <rect
              x={left + j * cell}
              y={top + i * cell}
              width={cell}
              height={cell}
              fill="none"
              stroke={colours.ink}
              stroke-width={2.5}
              rx={2}
            />
          )}
        </Picture>
      </Scrolling>
      <p class="told" aria-live="polite">
        {said}
      </p>
    </>
  );
}

/** Scroll the frame around a matrix until a cell is in sight, right of and below the names. */
function reveal(svg: SVGSVGElement | null, squares: Squares, row: number, column: number): void {
  const frame = svg?.closest(".scrolling");
  if (!svg || !frame) return;
  const scale = svg.getBoundingClientRect().width / squares.scene.width;
  const { left, top, cell } = squares;
  const [x, y, size] = [(left + column * cell) * scale, (top + row * cell) * scale, cell * scale];
  const within = (at: number, before: number, room: number, now: number): number =>
    at - before < now ? at - before : at + size > now + room ? at + size - room : now;
  frame.scrollTo(
    within(x, left * scale, frame.clientWidth, frame.scrollLeft),
    within(y, top * scale, frame.clientHeight, frame.scrollTop),
  );
}
