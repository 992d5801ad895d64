// The demo's report: what was trained, how good it is, and what it looks at.
import type { ComponentChildren, JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Address } from "../address";
import type { Theme } from "../colours";
import { Card } from "../controls";
import { legendFigure, panelFigure } from "../figures/curves";
import { linesFigure } from "../figures/lines";
import { matrixFigure, percent } from "../figures/matrix";
import { savedPage } from "../inlined";
import { Picture } from "../picture";
import { Save } from "../save";
import { type Item, type Scene, stacked, textWidth } from "../scene";
import { Scrolling } from "../scrolling";
import type { Label } from "../table";
import type { Say } from "../words";
import { type HeadsBlock, ReportHeads } from "./report_heads";

/** Words of one style. */
type Part = readonly ["plain" | "code" | "b" | "i", string];
/** In English and in Chinese, or alike in both. */
export type Said = string | readonly [string | readonly Part[], string | readonly Part[]];

interface Looking {
  rows: readonly string[];
  columns: readonly string[];
  weights: readonly (readonly number[])[];
  truth: readonly (readonly [number, number])[];
  focus: number | null;
}

type Block =
  | { kind: "text" | "note" | "heading"; said: Said }
  | { kind: "table"; head: readonly Said[]; rows: readonly (readonly Said[])[] }
  | {
      kind: "sentences";
      sentences: readonly { source: string; output: string; truth: string; is_right: boolean }[];
      truth: Said;
    }
  | { kind: "matrix"; looking: Looking; caption: string; high?: number }
  | { kind: "lines"; panels: readonly { looking: Looking; source: string; output: string }[] }
  | { kind: "curves"; curves: readonly { name: Said; points: readonly [number, number][] }[] }
  | HeadsBlock
  | { kind: "command"; said: Said; command: string };

export interface Report {
  title: Said;
  lead: Said;
  facts: readonly (readonly [string, Said])[];
  sections: readonly { title: Said; blocks: readonly Block[] }[];
  footer: Said;
}

interface Props {
  address: Address;
  say: Say;
  theme: Theme;
  report: Report;
}

export function ReportView({ address, say, theme, report }: Props): JSX.Element {
  const place = address.language === "en" ? 0 : 1;
  const told = (said: Said): ComponentChildren => styled(said, place);
  return (
    <div class="report">
      <div class="intro">
        <h1>{told(report.title)}</h1>
        <p>{told(report.lead)}</p>
        <dl class="facts">
          {report.facts.map(([value, name], i) => (
            <div key={i}>
              <dd>{value}</dd>
              <dt>{told(name)}</dt>
            </div>
          ))}
        </dl>
      </div>
      {report.sections.map((section, i) => (
        <Card key={i} title={plain(section.title, place)}>
          {section.blocks.map((block, j) => (
            <Shown key={j} {...{ block, place, theme, say }} />
          ))}
        </Card>
      ))}
      <p class="soft">{told(report.footer)}</p>
      {savedPage() !== null && <Save scene={null} theme={theme} name="report" say={say} />}
    </div>
  );
}

/** Figures stand below one another: a number alone, a range, or nothing measured. */
const isNumber = (said: Said): boolean =>
  typeof said === "string" && /^[–+-]?[\d.,–]* ?%?$/.test(said) && said !== "";

const ofPlace = (said: Said, place: 0 | 1): string | readonly Part[] =>
  typeof said === "string" ? said : said[place];

function plain(said: Said, place: 0 | 1): string {
  const found = ofPlace(said, place);
  return typeof found === "string" ? found : found.map(([, words]) => words).join("");
}

function styled(said: Said, place: 0 | 1): ComponentChildren {
  const found = ofPlace(said, place);
  if (typeof found === "string") return found;
  return found.map(([style, words], i) => {
    if (style === "plain") return words;
    const Style = style;
    return <Style key={i}>{words}</Style>;
  });
}

interface ShownProps {
  block: Block;
  place: 0 | 1;
  theme: Theme;
  say: Say;
}

function Shown({ block, place, theme, say }: ShownProps): JSX.Element {
  const told = (said: Said): ComponentChildren => styled(said, place);
  switch (block.kind) {
    case "text":
      return <p class="prose">{told(block.said)}</p>;
    case "note":
      return <p class="soft">{told(block.said)}</p>;
    case "heading":
      return <h3>{told(block.said)}</h3>;
    case "table":
      return (
        <Scrolling>
          <table class="listed">
            {block.head.length > 0 && (
              <thead>
                <tr>
                  {block.head.map((one, i) => (
                    <th key={i}>{told(one)}</th>
                  ))}
                </tr>
              </thead>
            )}
            <tbody>
              {block.rows.map((row, i) => (
                <tr key={i}>
                  {row.map((one, j) => (
                    <td key={j} class={isNumber(one) ? "number" : undefined}>
                      {told(one)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </Scrolling>
      );
    case "sentences":
      return (
        <ul class="translated">
          {block.sentences.map((one, i) => (
            <li key={i} class={one.is_right ? "right" : "wrong"}>
              <p class="soft">{one.source}</p>
              <p>{one.output}</p>
              {!one.is_right && (
                <p class="soft">
                  {told(block.truth)}: {one.truth}
                </p>
              )}
            </li>
          ))}
        </ul>
      );
    case "matrix":
      return (
        <figure>
          {block.caption && <figcaption class="soft">{block.caption}</figcaption>}
          <Matrix
            looking={block.looking}
            title={block.caption}
            theme={theme}
            high={block.high ?? 1}
          />
        </figure>
      );
    case "lines":
      return (
        <div class="panels">
          {block.panels.map(({ looking, source, output }, i) => (
            <figure key={i}>
              <Lines {...{ looking, theme, say }} title={source} />
              <figcaption class="soft">
                {source} → {output}
              </figcaption>
            </figure>
          ))}
        </div>
      );
    case "heads":
      return <ReportHeads {...{ block, theme, told }} plain={(said: Said) => plain(said, place)} />;
    case "curves":
      return <Curves {...{ block, place, theme, say }} />;
    case "command":
      return (
        <>
          <p>{told(block.said)}</p>
          <pre>{block.command}</pre>
        </>
      );
  }
}

const labelled = (words: readonly string[]): readonly Label[] =>
  words.map((text, i) => ({ text, places: [i], is_special: false }));

interface LookingProps {
  looking: Looking;
  title: string;
  theme: Theme;
}

/** The matrix; pairs that truly belong together have a frame. */
function Matrix({ looking, title, theme, high }: LookingProps & { high: number }): JSX.Element {
  const scene = useMemo((): Scene => {
    const drawn = matrixFigure({
      title,
      values: looking.weights,
      rows: labelled(looking.rows),
      columns: labelled(looking.columns),
      number: percent,
      high,
    });
    const { left, top, cell } = drawn;
    const frames = looking.truth.map(([i, j]): Item => ({
      kind: "rectangle",
      ...{ x: left + j * cell + 1.5, y: top + i * cell + 1.5, width: cell - 3, height: cell - 3 },
      ...{ stroke: "mark", strokeWidth: 2, radius: 3 },
    }));
    return { ...drawn.scene, items: [...drawn.scene.items, ...frames] };
  }, [looking, title, high]);
  return (
    <Scrolling>
      <Picture scene={scene} theme={theme} />
    </Scrolling>
  );
}

/** Lines from the word in focus; what it stands for has a frame. */
function Lines({ looking, title, theme, say }: LookingProps & { say: Say }): JSX.Element {
  const scene = useMemo((): Scene => {
    const [rows, columns] = [labelled(looking.rows), labelled(looking.columns)];
    const table = {
      ...({ kind: "cross", layer: 0, heads: [0], reading: "predicting" } as const),
      ...{ rows, columns, weights: [looking.weights] },
    };
    const focus = { row: looking.focus, column: null };
    const drawn = linesFigure(table, title, ["", say("looksAt")], focus);
    const frames = looking.truth
      .filter(([i]) => looking.focus === null || i === looking.focus)
      .map(([, j]): Item => ({
        kind: "rectangle",
        ...{ x: drawn.right + 4, y: drawn.columnAt(j) - 12, height: 24, radius: 6 },
        width: textWidth(looking.columns[j] ?? "", drawn.size) + 14,
        ...{ stroke: "mark", strokeWidth: 1.8 },
      }));
    return { ...drawn.scene, items: [...drawn.scene.items, ...frames] };
  }, [looking, title, say]);
  return (
    <Scrolling>
      <Picture scene={scene} theme={theme} />
    </Scrolling>
  );
}

function Curves({
  block,
  place,
  theme,
  say,
}: ShownProps & { block: Extract<Block, { kind: "curves" }> }): JSX.Element {
  const scene = useMemo((): Scene => {
    const colours = ["head0", "head1"] as const;
    const curves = block.curves.map(({ points }, i) => ({
      colour: colours[i] ?? ("head2" as const),
      points,
      hasMarks: points.length <= 40,
    }));
    const names = block.curves.map(({ name }, i) => ({
      text: plain(name, place),
      colour: colours[i] ?? ("head2" as const),
    }));
    const ends = curves.flatMap(({ points }) => points.map(([update]) => update));
    const drawn = panelFigure({
      title: say("lossTitle"),
      across: say("inUpdates"),
      curves,
      range: [0, Math.max(1, ...ends)],
      fromZero: true,
    });
    return stacked([drawn.scene, legendFigure(names)], say("lossTitle"), 4);
  }, [block, place, say]);
  return (
    <Scrolling>
      <Picture scene={scene} theme={theme} />
    </Scrolling>
  );
}
