import type { JSX } from "preact";
import { type Address, type View, format } from "./address";
import type { Say } from "./words";

interface Props {
  address: Address;
  go: (change: Partial<Address>) => void;
  say: Say;
  views: readonly View[];
  /** whether a picture is looked at, and no translation */
  isPicture?: boolean;
}

const THEMES = ["auto", "light", "dark"] as const;

export function Header({ address, go, say, views, isPicture = false }: Props): JSX.Element {
  const following = THEMES[(THEMES.indexOf(address.theme) + 1) % THEMES.length] ?? "auto";
  return (
    <header class="top">
      <div class="brand">
        <svg viewBox="0 0 32 32" width="30" height="30" aria-hidden="true">
          <path class="eye" d="M3 16C8 7 24 7 29 16C24 25 8 25 3 16Z" />
          <circle class="pupil" cx="16" cy="16" r="5" />
        </svg>
        <span>Regard</span>
      </div>
      <nav aria-label={say("views")}>
        {views.map((view) => (
          <a
            key={view}
            href={format({ ...address, view }, address.language === "en" ? "zh" : "en")}
            aria-current={view === address.view ? "page" : undefined}
            onClick={(event) => {
              if (event.ctrlKey || event.metaKey || event.shiftKey) return;
              event.preventDefault();
              go({ view });
            }}
          >
            {say(view === "look" && isPicture ? "lookPicture" : view)}
          </a>
        ))}
      </nav>
      <div class="settings">
        <button
          type="button"
          class="quiet"
          aria-pressed={address.isLarge}
          title={say("large")}
          aria-label={say("large")}
          onClick={() => go({ isLarge: !address.isLarge })}
        >
          A<span class="larger">A</span>
        </button>
        <button
          type="button"
          class="quiet"
          title={say("theme")}
          aria-label={`${say("theme")}: ${say(address.theme)}`}
          onClick={() => go({ theme: following })}
        >
          {say(address.theme)}
        </button>
        <button
          type="button"
          class="quiet"
          lang={address.language === "en" ? "zh-CN" : "en"}
          aria-label={say("toOtherLong")}
          onClick={() => go({ language: address.language === "en" ? "zh" : "en" })}
        >
          {say("toOther")}
        </button>
      </div>
    </header>
  );
}
