// A scene as SVG: real text, and every colour an attribute, so that a copy of it is a whole file.
import type { ComponentChildren, JSX, SVGAttributes } from "preact";
import { useMemo } from "preact/hooks";
import { COLOURS, type Theme } from "./colours";
import { HATCH, hatching, outlines, textColour, veil } from "./paint";
import { FONTS, type Heat, type Item, type Scene } from "./scene";

interface Props extends SVGAttributes<SVGSVGElement> {
  scene: Scene;
  theme: Theme;
  children?: ComponentChildren;
  /** a picture shrinks with its place, but not below this; then it scrolls */
  least?: number;
}

/** Names are not drawn smaller than this, in pixels of the page. */
export const READABLE = 11;

export function Picture({ scene, theme, children, least = 0.62, ...rest }: Props): JSX.Element {
  return (
    <svg
      xmlns="http://www.w3.org/2000/svg"
      class="picture"
      width={scene.width}
      height={scene.height}
      viewBox={`0 0 ${scene.width} ${scene.height}`}
      font-family={FONTS}
      role="img"
      style={{ minWidth: `${Math.round(Math.min(1, least) * scene.width)}px` }}
      aria-label={scene.title}
      {...rest}
    >
      <Items items={scene.items} theme={theme} />
      {children}
    </svg>
  );
}

/** Drawn again only when the scene is another, not when something above it moves. */
export function Items({ items, theme }: { items: readonly Item[]; theme: Theme }): JSX.Element {
  return useMemo(() => <g>{items.map((item, i) => drawn(item, i, theme))}</g>, [items, theme]);
}

function drawn(item: Item, key: number, theme: Theme): JSX.Element {
  const colours = COLOURS[theme];
  switch (item.kind) {
    case "text":
      return (
        <text
          key={key}
          x={item.x}
          y={item.y}
          dy="0.35em"
          font-size={item.size}
          fill={textColour(item, theme)}
          text-anchor={item.anchor ?? "start"}
          font-weight={item.isBold ? 600 : undefined}
          transform={item.turned ? `rotate(${item.turned} ${item.x} ${item.y})` : undefined}
          data-row={item.row}
          data-column={item.column}
        >
          {item.text}
        </text>
      );
    case "path": {
      const points = item.points.map(([x, y]) => `${round(x)} ${round(y)}`);
      return (
        <path
          key={key}
          d={`M${points[0] ?? "0 0"}${item.isCurve ? "C" : "L"}${points.slice(1).join(" ")}`}
          fill="none"
          stroke={colours[item.colour]}
          stroke-width={item.width}
          stroke-opacity={item.opacity}
        />
      );
    }
    case "rectangle":
      return (
        <rect
          key={key}
          x={item.x}
          y={item.y}
          width={Math.max(0, item.width)}
          height={Math.max(0, item.height)}
          rx={item.radius}
          fill={item.fill ? colours[item.fill] : "none"}
          stroke={item.stroke ? colours[item.stroke] : undefined}
          stroke-width={item.stroke ? (item.strokeWidth ?? 1) : undefined}
          opacity={item.opacity}
        />
      );
    case "image":
      return (
        <g key={key} style={item.isSharp ? { imageRendering: "pixelated" } : undefined}>
          {item.part ? (
            <svg
              {...{ x: item.x, y: item.y, width: item.width, height: item.height }}
              viewBox={`${item.part.x} ${item.part.y} ${item.part.side} ${item.part.side}`}
            >
              <rect x={item.part.x} y={item.part.y} width="100%" height="100%" />
              <image
                href={item.source}
                width={item.part.pixels[0]}
                height={item.part.pixels[1]}
                preserveAspectRatio="none"
              />
            </svg>
          ) : (
            [item.source, ...(item.light ? [veil(item.light).toDataURL()] : [])].map((href, i) => (
              <image
                key={i}
                {...{ href, x: item.x, y: item.y, width: item.width, height: item.height }}
                style={i > 0 ? { imageRendering: "auto" } : undefined}
                preserveAspectRatio="none"
              />
            ))
          )}
        </g>
      );
    case "heat":
      return (
        <g key={key} shape-rendering="crispEdges">
          {outlines(item, theme).map(({ colour, outline }) => (
            <path key={colour} d={outline} fill={colour} />
          ))}
          {item.masked && <Hatching item={item} theme={theme} />}
        </g>
      );
  }
}

function Hatching({ item, theme }: { item: Heat; theme: Theme }): JSX.Element {
  const lines = hatching(item).map((line) => line.map(round));
  return (
    <path
      class="masked"
      data-cells={item.masked?.flat().filter(Boolean).length}
      d={lines.map(([x1, y1, x2, y2]) => `M${x1} ${y1}L${x2} ${y2}`).join("")}
      fill="none"
      stroke={COLOURS[theme].faint}
      stroke-width={HATCH}
      shape-rendering="auto"
    />
  );
}

const round = (value: number): number => Math.round(100 * value) / 100;
