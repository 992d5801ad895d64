// The few controls that the views share.
import type { ComponentChildren, JSX } from "preact";

interface ChoiceProps<T extends string> {
  label: string;
  options: readonly (readonly [T, string])[];
  chosen: T;
  choose: (one: T) => void;
  isLabelHidden?: boolean;
}

/** One of several, side by side. */
export function Choice<T extends string>(props: ChoiceProps<T>): JSX.Element {
  return (
    <div class="choice" role="group" aria-label={props.label}>
      {props.isLabelHidden ? null : <span class="soft">{props.label}</span>}
      <span class="segments">
        {props.options.map(([value, text]) => (
          <button
            type="button"
            key={value}
            aria-pressed={value === props.chosen}
            onClick={() => props.choose(value)}
          >
            {text}
          </button>
        ))}
      </span>
    </div>
  );
}

interface ToggleProps {
  text: string;
  isOn: boolean;
  set: (isOn: boolean) => void;
}

export function Toggle({ text, isOn, set }: ToggleProps): JSX.Element {
  return (
    <label class="toggle">
      <input
        type="checkbox"
        checked={isOn}
        onChange={(event) => set(event.currentTarget.checked)}
      />
      <span>{text}</span>
    </label>
  );
}

interface SliderProps {
  text: string;
  value: number;
  least: number;
  most: number;
  by?: number;
  set: (value: number) => void;
}

export function Slider({ text, value, least, most, by = 1, set }: SliderProps): JSX.Element {
  return (
    <label class="slider">
      <span class="soft">{text}</span>
      <input
        type="range"
        min={least}
        max={most}
        step={by}
        value={value}
        onInput={(event) => set(Number(event.currentTarget.value))}
      />
      <output>{String(Math.round(value * 100) / 100).replace("-", "−")}</output>
    </label>
  );
}

interface CardProps {
  title?: string;
  lead?: string;
  tools?: ComponentChildren;
  children: ComponentChildren;
  name?: string;
}

export function Card({ title, lead, tools, children, name }: CardProps): JSX.Element {
  return (
    <section class={name ? `card ${name}` : "card"} aria-label={title}>
      {(title || tools) && (
        <header>
          <div>
            {title && <h2>{title}</h2>}
            {lead && <p class="soft">{lead}</p>}
          </div>
          {tools}
        </header>
      )}
      {children}
    </section>
  );
}

/** A figure that may be wider than the page: it scrolls within itself. */
export function Scrolling({ children }: { children: ComponentChildren }): JSX.Element {
  return <div class="scrolling">{children}</div>;
}
