// An explanation of `regard explain`: what is done in each step, as a formula, in words, in numbers.
import type { JSX } from "preact";
import { type Ramp, type Theme, hex, rampTable, readable, shade } from "../colours";
import type { NumberTable, SavedLesson } from "../contract";
import { Card } from "../controls";
import { Save } from "../save";
import { Scrolling } from "../scrolling";
import type { Say } from "../words";

type Cell = NumberTable["cells"][number][number];

export function LessonView({
  say,
  theme,
  lesson,
}: {
  say: Say;
  theme: Theme;
  lesson: SavedLesson;
}): JSX.Element {
  return (
    <div class="lesson" lang="en">
      <div class="intro">
        <h1>{lesson.title}</h1>
        <p>{lesson.lead}</p>
      </div>
      {lesson.steps.map((step, i) => (
        <Card key={i} name="step" title={`${i + 1} · ${step.title}`}>
          {step.formula && <p class="formula">{step.formula}</p>}
          {step.prose && <p class="prose">{step.prose}</p>}
          <div class="tables">
            {step.tables.map((table, j) => (
              <figure key={j}>
                {table.name && <figcaption>{table.name}</figcaption>}
                <Scrolling>
                  <Numbers table={table} theme={theme} />
                </Scrolling>
              </figure>
            ))}
          </div>
        </Card>
      ))}
      <Save scene={null} theme={theme} name="explanation" say={say} />
    </div>
  );
}

function said(cell: Cell, decimals: number): string {
  if (typeof cell === "string") {
    return cell === "-Infinity" ? "−∞" : cell === "Infinity" ? "∞" : cell;
  }
  return (Number.isInteger(cell) ? String(cell) : cell.toFixed(decimals)).replace("-", "−");
}

const sizeOf = (cell: Cell): number => {
  const value = Math.abs(Number(cell));
  return Number.isFinite(value) ? value : 0;
};

function Numbers({ table, theme }: { table: NumberTable; theme: Theme }): JSX.Element {
  const { rows, columns, cells, look, decimals, focus } = table;
  const most = Math.max(...cells.flat().map(sizeOf), 1e-9);
  const shades: [Ramp, number, number] =
    look === "signed" ? ["signed", -most, most] : ["weights", 0, 1];
  const colours = (cell: Cell): { background: string; color: string } | undefined => {
    if ((look !== "signed" && look !== "share") || !Number.isFinite(Number(cell))) return undefined;
    const [ramp, low, high] = shades;
    const place = shade(Number(cell), low, high);
    const background = hex(rampTable(theme, ramp)[place] ?? [0, 0, 0]);
    return { background, color: readable(theme, ramp, place) };
  };
  return (
    <table class={`numbers ${look}`}>
      {columns.some((name) => name !== "") && (
        <thead>
          <tr>
            <td />
            {columns.map((name, j) => (
              <th key={j} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
      )}
      <tbody>
        {rows.map((name, i) => (
          <tr key={i} class={i === focus ? "focus" : undefined}>
            <th scope="row">{name}</th>
            {(cells[i] ?? []).map((cell, j) => {
              const style = colours(cell);
              return (
                <td key={j} {...(style ? { style } : {})}>
                  {look === "bars" && (
                    <span
                      class="bar"
                      style={{ width: `${Math.round(140 * Math.min(1, sizeOf(cell)))}px` }}
                    />
                  )}
                  {said(cell, decimals)}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
