// The matrix one can point at: hover, tap, arrow keys, click; with its scale, and zoomed at will.
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { COLOURS, type Theme } from "./colours";
import type { Squares } from "./figures/matrix";
import { Legend } from "./legend";
import { Picture, READABLE } from "./picture";
import { PinnedNames } from "./pinned_names";
import { type Ends, NOWHERE, hasHover, isTouch } from "./pointing";
import { Scrolling } from "./scrolling";
import type { Matrix } from "./table";
import type { Say, Word } from "./words";
import { type Zoom, useZoom } from "./zoom";

type Cell = readonly [number, number];

export interface MatrixProps {
  squares: Squares;
  values: Matrix;
  table: { rows: readonly { text: string }[]; columns: readonly { text: string }[] };
  theme: Theme;
  say: Say;
  ends?: Ends;
  /** the chosen cell; without it the matrix remembers its own */
  selected?: Ends;
  hover?: (end: "row" | "column", index: number | null) => void;
  select?: (row: number, column: number) => void;
  open?: (row: number, column: number) => void;
  /** which cell the pointer is over */
  over?: (cell: Cell | null) => void;
  /** how a cell is told, by what its row is */
  telling?: Word;
  /** what is said of a cell, and when there is none */
  said?: (row: number, column: number) => string;
  hint?: string;
  /** whether a cell is told elsewhere */
  isSilent?: boolean;
}

export function MatrixPicture(props: MatrixProps): JSX.Element {
  const { theme, say, ends = NOWHERE, hover, open } = props;
  const { nRows, nColumns } = props.squares;
  const [own, setOwn] = useState<Ends>(NOWHERE);
  const selected = props.selected ?? own;
  const select = props.select ?? ((row: number, column: number) => setOwn({ row, column }));
  const [over, setOverHere] = useState<Cell | null>(null);
  const setOver = (cell: Cell | null): void => {
    setOverHere(cell);
    props.over?.(cell);
  };
  const svg = useRef<SVGSVGElement>(null);
  const isMoved = useRef(true); // by keys, or by whoever opened the page at a cell
  const chosen: Cell | null =
    selected.row !== null && selected.column !== null ? [selected.row, selected.column] : null;
  const zoom = useZoom({
    chosen,
    cells: () => {
      const box = svg.current?.getBoundingClientRect();
      if (!box) return null;
      const scale = box.width / scene.width;
      return {
        ...{ x: box.left + left * scale, y: box.top + top * scale },
        ...{ width: cell * scale, height: tall * scale },
      };
    },
  });
  const squares = useMemo(() => grown(props.squares, zoom), [props.squares, zoom.scale]);
  const { scene, left, top, cell, tall } = squares;
  const place = (event: MouseEvent): Cell => {
    const box = svg.current?.getBoundingClientRect() ?? new DOMRect();
    const scale = scene.width / box.width;
    return [
      Math.floor(((event.clientY - box.top) * scale - top) / tall),
      Math.floor(((event.clientX - box.left) * scale - left) / cell),
    ];
  };
  const isCell = ([i, j]: Cell): boolean => i >= 0 && j >= 0 && i < nRows && j < nColumns;
  const shown = over ?? chosen;
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[
      event.key
    ];
    if (step) {
      event.preventDefault();
      setOver(null);
      isMoved.current = true;
      const [i, j] = chosen ?? [0, 0];
      const [di, dj] = chosen === null ? [0, 0] : [step[0] ?? 0, step[1] ?? 0];
      select(Math.min(nRows - 1, Math.max(0, i + di)), Math.min(nColumns - 1, Math.max(0, j + dj)));
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      if (chosen !== null) open?.(...chosen);
    }
  };
  useEffect(() => {
    const { row, column } = selected;
    if (isMoved.current && row !== null && column !== null) {
      reveal(svg.current, squares, row, column);
    }
    isMoved.current = false;
  }, [selected.row, selected.column]);
  const pointName = (event: MouseEvent, end: "row" | "column"): void => {
    const [i, j] = place(event);
    const [at, count] = end === "row" ? [i, nRows] : [j, nColumns];
    hover?.(end, at >= 0 && at < count ? at : null);
  };
  /** What is pointed at, a cell or a name, is told. */
  const point = (event: MouseEvent): void => {
    const at = place(event);
    const next = isCell(at) ? at : null;
    if (!isSame(next, over)) setOver(next);
    if (at[0] < 0) pointName(event, "column");
    else if (next !== null || at[1] < 0) pointName(event, "row");
    else hover?.("row", null);
  };
  const leave = (): void => {
    setOver(null);
    hover?.("row", null);
  };
  return (
    <>
      <Scrolling
        zoom={zoom}
        drawn={squares === props.squares ? undefined : scene.width}
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
            if (!isTouch(event)) point(event);
          }}
          onPointerLeave={(event) => {
            if (!isTouch(event)) leave();
          }}
          onClick={(event) => {
            const at = place(event);
            // A mouse has read the cell by hovering over it; a finger reads it by its first tap.
            if (isTouch(event) && !isSame(at, over)) point(event);
            else if (isCell(at)) open?.(...at);
          }}
        >
          <Outline squares={squares} cell={[ends.row, ends.column]} stroke={COLOURS[theme].mark} />
          {shown !== null && (
            <Outline squares={squares} cell={shown} stroke={COLOURS[theme].ink} width={2.5} />
          )}
        </Picture>
      </Scrolling>
      <Legend {...squares} {...{ theme, say, zoom }} />
      {!props.isSilent && (
        <p class="told" aria-live="polite">
          {shown === null ? hintOf(props) : told(props, shown)}
        </p>
      )}
    </>
  );
}

/** Cells are zoomed, names are not: they can be read already, and would only take room. */
function grown(squares: Squares, { scale, fit }: Zoom): Squares {
  if (scale === 1 || fit === null || !squares.grown) return squares;
  return squares.grown((squares.cell * scale * fit.width) / squares.scene.width);
}

const isSame = (one: Cell | null, other: Cell | null): boolean =>
  one?.[0] === other?.[0] && one?.[1] === other?.[1];

/** What can be done here, with a mouse and keys or with a finger. */
function hintOf({ hint, open, say }: MatrixProps): string {
  if (hasHover()) return hint ?? say(open === undefined ? "readHint" : "cellHint");
  return say(hint !== undefined || open === undefined ? "readHintTouch" : "cellHintTouch");
}

/** What is said of a cell: its words and its weight, or that it is masked. */
function told({ squares, table, values, say, said, telling }: MatrixProps, [i, j]: Cell): string {
  const names = { row: table.rows[i]?.text ?? "", column: table.columns[j]?.text ?? "" };
  if (squares.masked?.[i]?.[j]) return say("cellMasked", names);
  if (said) return said(i, j);
  return say(telling ?? "cellSaid", { ...names, value: (values[i]?.[j] ?? 0).toFixed(3) });
}

interface OutlineProps {
  squares: Squares;
  /** null is a whole row or column; nothing where both are */
  cell: readonly [number | null, number | null];
  stroke: string;
  width?: number;
}

function Outline({ squares, cell, stroke, width = 2 }: OutlineProps): JSX.Element | null {
  const [row, column] = cell;
  if (row === null && column === null) return null;
  return (
    <rect
      x={squares.left + (column ?? 0) * squares.cell}
      y={squares.top + (row ?? 0) * squares.tall}
      width={(column === null ? squares.nColumns : 1) * squares.cell}
      height={(row === null ? squares.nRows : 1) * squares.tall}
      fill="none"
      stroke={stroke}
      stroke-width={width}
      rx={2}
    />
  );
}

/** Scroll the frame around a matrix until a cell is in sight, right of and below the names. */
function reveal(svg: SVGSVGElement | null, squares: Squares, row: number, column: number): void {
  const frame = svg?.closest(".scrolling");
  if (!svg || !frame) return;
  const scale = svg.getBoundingClientRect().width / squares.scene.width;
  const { left, top, cell, tall } = squares;
  const within = (at: number, size: number, before: number, room: number, now: number): number =>
    at - before < now ? at - before : at + size > now + room ? at + size - room : now;
  const [x, y] = [(left + column * cell) * scale, (top + row * tall) * scale];
  frame.scrollTo(
    within(x, cell * scale, left * scale, frame.clientWidth, frame.scrollLeft),
    within(y, tall * scale, top * scale, frame.clientHeight, frame.scrollTop),
  );
}
