// The few controls that the views share.
import type { ComponentChildren, JSX } from "preact";
import type { Address, Form } from "./address";
import type { Say } from "./words";

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

interface FormProps {
  form: Form;
  forms?: readonly Form[];
  go: (change: Partial<Address>) => void;
  say: Say;
}

/** Whether weights are drawn as squares or as lines. */
export function FormChoice({ form, forms = ["matrix", "lines"], go, say }: FormProps): JSX.Element {
  return (
    <Choice
      label={say("form")}
      isLabelHidden
      options={forms.map((one) => [one, say(one === "positions" ? "placesForm" : one)] as const)}
      chosen={form}
      choose={(chosen) => go({ form: chosen })}
    />
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

interface DraftProps {
  label: string;
  text: string;
  set: (text: string) => void;
  submit: () => void;
  /** what is to be written, where nothing is yet */
  wanted?: string;
}

/** A text that is being written: Enter sends it, Shift and Enter begin a new line. */
export function Draft({ label, text, set, submit, wanted }: DraftProps): JSX.Element {
  return (
    <textarea
      aria-label={label}
      rows={2}
      value={text}
      placeholder={wanted}
      onFocus={(event) => {
        // an example that arrives from now on is not put before what is typed
        if (event.currentTarget.value === "") set("");
      }}
      onInput={(event) => set(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
          event.preventDefault();
          submit();
        }
      }}
    />
  );
}

interface NamesProps {
  label: string;
  names: readonly string[];
  chosen: string | undefined;
  choose: (name: string) => void;
}

/** One of several names; nothing where there is no choice. */
export function Names({ label, names, chosen, choose }: NamesProps): JSX.Element | null {
  if (names.length < 2) return null;
  return (
    <select
      aria-label={label}
      value={chosen}
      onChange={(event) => choose(event.currentTarget.value)}
    >
      {names.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
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
      <span class="dial">
        <input
          type="range"
          min={least}
          max={most}
          step={by}
          value={value}
          onInput={(event) => set(Number(event.currentTarget.value))}
        />
        <output>{String(Math.round(value * 100) / 100).replace("-", "−")}</output>
      </span>
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
