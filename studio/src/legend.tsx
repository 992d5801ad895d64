// Below a matrix: what its colours mean, which cells are masked, and how it is zoomed.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Theme } from "./colours";
import { type Scale, maskedFigure, scaleFigure } from "./figures/scale";
import { Picture } from "./picture";
import type { Say } from "./words";
import { type Zoom, ZoomButtons } from "./zoom";

interface Props {
  scale: Scale;
  hasMasked?: boolean;
  theme: Theme;
  say: Say;
  zoom?: Zoom;
}

export function Legend({ scale, hasMasked = false, theme, say, zoom }: Props): JSX.Element {
  const { ramp, low, high } = scale;
  const bar = useMemo(() => scaleFigure({ ramp, low, high }, say), [ramp, low, high, say]);
  const hatched = useMemo(() => (hasMasked ? maskedFigure(say) : null), [hasMasked, say]);
  return (
    <div class="scale">
      <Picture scene={bar} theme={theme} class="bar" least={0} data-low={low} data-high={high} />
      {hatched && <Picture scene={hatched} theme={theme} class="hatched" least={0} />}
      {zoom && <ZoomButtons zoom={zoom} say={say} />}
    </div>
  );
}
