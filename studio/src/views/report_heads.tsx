// Heads by what they do: layers downwards, heads to the right; the one that is chosen tells more.
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { COLOURS, type Theme, headColour } from "../colours";
import { Scrolling } from "../scrolling";
import type { Said } from "./report";

export interface HeadsBlock {
  kind: "heads";
  groups: readonly (readonly [string, Said])[];
  heads: readonly {
    name: string;
    group: string;
    said: Said;
    facts: readonly (readonly [Said, string])[];
  }[];
}

interface Props {
  block: HeadsBlock;
  theme: Theme;
  told: (said: Said) => ComponentChildren;
  plain: (said: Said) => string;
}

/** The colour of a group; what follows nothing has none. */
function colourOf(block: HeadsBlock, group: string, theme: Theme): string {
  if (group === "none") return "transparent";
  const place = block.groups.findIndex(([name]) => name === group);
  return COLOURS[theme][headColour(place)];
}

export function ReportHeads({ block, theme, told, plain }: Props): JSX.Element {
  const first = Math.max(
    0,
    block.heads.findIndex(({ group }) => group !== "none"),
  );
  const [chosen, choose] = useState(first);
  const layers = [...new Set(block.heads.map(({ name }) => name.split(".")[1] ?? ""))];
  const shown = block.heads[chosen];
  return (
    <div class="head-map">
      <Scrolling>
        <div>
          {layers.map((layer) => (
            <div key={layer} class="head-row">
              <span class="soft">{layer}</span>
              {block.heads.map(
                ({ name, group, said }, i) =>
                  name.split(".")[1] === layer && (
                    <button
                      key={name}
                      type="button"
                      aria-pressed={i === chosen}
                      aria-label={`${name}: ${plain(said)}`}
                      title={`${name}: ${plain(said)}`}
                      style={{ borderBottomColor: colourOf(block, group, theme) }}
                      onClick={() => choose(i)}
                      onMouseEnter={() => choose(i)}
                      onFocus={() => choose(i)}
                    >
                      {name.split(".")[2]}
                    </button>
                  ),
              )}
            </div>
          ))}
        </div>
      </Scrolling>
      <ul class="groups">
        {block.groups.map(([group, said]) => (
          <li key={group}>
            <i style={{ background: colourOf(block, group, theme) }} /> {told(said)}{" "}
            <span class="soft">{block.heads.filter((one) => one.group === group).length}</span>
          </li>
        ))}
      </ul>
      {shown !== undefined && (
        <div class="told" aria-live="polite">
          <h3>{shown.name}</h3>
          <p>{told(shown.said)}</p>
          <dl>
            {shown.facts.map(([name, value], i) => (
              <div key={i}>
                <dt>{told(name)}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </div>
      )}
    </div>
  );
}
