// The lines one can point at: a word on either side keeps only its own.
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import type { Theme } from "./colours";
import type { Lines } from "./figures/lines";
import { Picture, READABLE } from "./picture";
import { isTouch } from "./pointing";
import type { Table } from "./table";

interface Props {
  drawn: Lines;
  table: Table;
  theme: Theme;
  hover: (end: "row" | "column", index: number | null) => void;
}

export function LinesPicture({ drawn, table, theme, hover }: Props): JSX.Element {
  const { scene, left, right, rowHeight, rowAt, columnAt } = drawn;
  const nearest = (y: number, count: number, at: (index: number) => number): number | null => {
    const index = Math.round((y - at(0)) / rowHeight);
    return index >= 0 && index < count ? index : null;
  };
  const svg = useRef<SVGSVGElement>(null);
  const point = (event: MouseEvent): void => {
    const box = svg.current?.getBoundingClientRect() ?? new DOMRect();
    const scale = scene.width / box.width;
    const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
    if (x < left) hover("row", nearest(y, table.rows.length, rowAt));
    else if (x > right) hover("column", nearest(y, table.columns.length, columnAt));
    else hover("row", null);
  };
  return (
    <Picture
      ref={svg}
      scene={scene}
      theme={theme}
      class="picture pointing"
      least={READABLE / drawn.size}
      onPointerMove={(event) => {
        if (!isTouch(event)) point(event);
      }}
      onPointerLeave={(event) => {
        if (!isTouch(event)) hover("row", null);
      }}
      onClick={point}
    />
  );
}
