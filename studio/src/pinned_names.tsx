// The names of rows and columns again, over a matrix that is scrolled: they stay where they can be read.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Theme } from "./colours";
import type { Squares } from "./figures/matrix";
import { Items } from "./picture";
import { isTouch } from "./pointing";
import { FONTS, type Item } from "./scene";

interface Props {
  squares: Squares;
  theme: Theme;
  /** of the matrix on the screen */
  width: number;
  point: (event: MouseEvent, end: "row" | "column") => void;
  leave: () => void;
}

interface Parts {
  rows: readonly Item[];
  columns: readonly Item[];
  corner: readonly Item[];
}

/** Which words of the picture are names; as copies they are nobody's row or column. */
function namesOf({ scene, left, top }: Squares): Parts {
  const words = scene.items.flatMap((item) => (item.kind === "text" ? [item] : []));
  const plain = words.map(({ row: _, column: __, ...rest }) => rest);
  const those = (isWanted: (word: (typeof words)[number]) => boolean): readonly Item[] =>
    plain.filter((_, i) => words[i] !== undefined && isWanted(words[i]));
  const isFree = (word: (typeof words)[number]): boolean =>
    word.row === undefined && word.column === undefined;
  return {
    rows: those((word) => word.row !== undefined && word.column === undefined),
    columns: those(
      (word) =>
        (word.column !== undefined && word.row === undefined) ||
        (isFree(word) && word.x >= left && word.y < top),
    ),
    corner: those((word) => isFree(word) && word.x < left && word.y < top),
  };
}

export function PinnedNames({ squares, theme, width, point, leave }: Props): JSX.Element {
  const { scene, left, top } = squares;
  const parts = useMemo(() => namesOf(squares), [squares]);
  const scale = width / scene.width;
  const pinned = (name: keyof Parts, w: number, h: number): JSX.Element => {
    const told = (event: MouseEvent): void => {
      if (name !== "corner") point(event, name === "rows" ? "row" : "column");
    };
    return (
      <svg
        key={name}
        class={`pinned ${name}`}
        aria-hidden="true"
        width={w * scale}
        height={h * scale}
        viewBox={`0 0 ${w} ${h}`}
        font-family={FONTS}
        onPointerMove={(event) => {
          if (!isTouch(event)) told(event);
        }}
        onPointerLeave={(event) => {
          if (!isTouch(event)) leave();
        }}
        onClick={told}
      >
        <Items items={parts[name]} theme={theme} />
      </svg>
    );
  };
  return (
    <>
      {pinned("columns", scene.width, top)}
      {pinned("rows", left, scene.height)}
      {pinned("corner", left, top)}
    </>
  );
}
