// The two themes of Regard's pictures: the same roles and ramps as in regard/inspection/figures.

export type Theme = "light" | "dark";
export type Ramp = "weights" | "signed";
export type Colour = keyof (typeof COLOURS)["light"];

export const COLOURS = {
  light: {
    ground: "#ffffff",
    panel: "#f5f6f8",
    ink: "#1d1f24",
    soft: "#5c6270",
    faint: "#b3b8c2",
    line: "#e1e3e8",
    look: "#0072b2",
    mark: "#d55e00",
    pale: "#ffffff",
    head0: "#0072b2",
    head1: "#d55e00",
    head2: "#009e73",
    head3: "#cc79a7",
    head4: "#e69f00",
    head5: "#56b4e9",
    head6: "#882255",
    head7: "#8a8a2a",
  },
  dark: {
    ground: "#14161a",
    panel: "#1e2127",
    ink: "#ececef",
    soft: "#a4abb9",
    faint: "#565d6a",
    line: "#2e323a",
    look: "#56b4e9",
    mark: "#ff9a5c",
    pale: "#0d1520",
    head0: "#56b4e9",
    head1: "#ff8a4c",
    head2: "#2fc99c",
    head3: "#e79ac6",
    head4: "#f5c04a",
    head5: "#a9d8ff",
    head6: "#d9709f",
    head7: "#c9c96a",
  },
} as const;

const RAMPS: Record<Theme, Record<Ramp, readonly string[]>> = {
  light: {
    weights: [
      ...["#f5f8fc", "#dce9f6", "#bcd7eb", "#8fc1de", "#5ba3cf"],
      ...["#3182bd", "#1764ab", "#084a91", "#08306b"],
    ],
    signed: ["#b2182b", "#ef8a62", "#fddbc7", "#f7f7f7", "#d1e5f0", "#67a9cf", "#2166ac"],
  },
  dark: {
    weights: [
      ...["#1b1f26", "#1c2f45", "#1b4166", "#1d5688", "#2a6fa8"],
      ...["#4490c8", "#6cb2e3", "#a3d3f5", "#e3f3ff"],
    ],
    signed: ["#ef8a62", "#b2483b", "#5a2a2c", "#1b1f26", "#1f3f5c", "#3b82b8", "#8fc8ee"],
  },
};

const HEADS = ["head0", "head1", "head2", "head3", "head4", "head5", "head6", "head7"] as const;

/** The role of a head's colour; the ninth looks like the first. */
export const headColour = (head: number): Colour => HEADS[head % HEADS.length] ?? "head0";

export type Shade = readonly [number, number, number];

const channels = (hex: string): Shade => [
  Number.parseInt(hex.slice(1, 3), 16),
  Number.parseInt(hex.slice(3, 5), 16),
  Number.parseInt(hex.slice(5, 7), 16),
];

function made(stops: readonly string[]): readonly Shade[] {
  const known = stops.map(channels);
  return Array.from({ length: 256 }, (_, i) => {
    const place = (i / 255) * (known.length - 1);
    const below = Math.min(Math.floor(place), known.length - 2);
    const [low, high] = [known[below] ?? [0, 0, 0], known[below + 1] ?? [0, 0, 0]];
    const mixed = [0, 1, 2].map((c) =>
      Math.round((low[c] ?? 0) + (place - below) * ((high[c] ?? 0) - (low[c] ?? 0))),
    );
    return [mixed[0] ?? 0, mixed[1] ?? 0, mixed[2] ?? 0] as const;
  });
}

const tables = new Map<string, readonly Shade[]>();

/** 256 shades from low to high. */
export function rampTable(theme: Theme, ramp: Ramp): readonly Shade[] {
  const key = `${theme}.${ramp}`;
  const found = tables.get(key) ?? made(RAMPS[theme][ramp]);
  tables.set(key, found);
  return found;
}

/** The place of a value on its ramp, from 0 to 255. */
export function shade(value: number, low: number, high: number): number {
  const scaled = (value - low) / (high - low || 1);
  return Math.round(255 * Math.min(1, Math.max(0, Number.isNaN(scaled) ? 0 : scaled)));
}

function luminance(colour: Shade): number {
  const [red = 0, green = 0, blue = 0] = colour.map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** How well one colour can be read on another, from 1 to 21 (WCAG). */
export function contrast(a: Shade, b: Shade): number {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

export const ENOUGH = 4.5; // of contrast, for text (WCAG AA)

/** An ink that can be read on a shade: the theme's own, or in the middle plain black or white. */
export function readable(theme: Theme, ramp: Ramp, place: number): string {
  const ground = rampTable(theme, ramp)[place] ?? [0, 0, 0];
  const of = (ink: string): number => contrast(channels(ink), ground);
  const { ink, pale } = COLOURS[theme];
  const own = of(ink) >= of(pale) ? ink : pale;
  if (of(own) >= ENOUGH) return own;
  return of("#000000") >= of("#ffffff") ? "#000000" : "#ffffff";
}

export const hex = (colour: Shade): string =>
  `#${colour.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
