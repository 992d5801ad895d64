// The page: what is at the address, who answers, and the view that is open.
import type { JSX } from "preact";
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { type Address, type Language, VIEWS, format, parse, startOf } from "./address";
import { type Model, isLookedAt, isPictured, servedModels } from "./api";
import type { Theme } from "./colours";
import { useComparing } from "./comparing";
import { Card } from "./controls";
import { Dropping } from "./dropping";
import { begun, modelOf } from "./fitting";
import { Header } from "./header";
import { reportOf, savedPage } from "./inlined";
import { KeyAsking } from "./key_asking";
import { Place } from "./save";
import { Saying } from "./scrolling";
import { savedViews, useShown } from "./showing";
import type { Stage } from "./stage";
import { ArithmeticView } from "./views/arithmetic";
import { Asking } from "./views/asking";
import { BlocksView } from "./views/blocks";
import { CompareView } from "./views/compare";
import { GenerateView } from "./views/generate";
import { LessonView } from "./views/lesson";
import { LookView, PendingSentences } from "./views/look";
import { type Report, ReportView } from "./views/report";
import { SwitchboardView } from "./views/switchboard";
import { TrainingView } from "./views/training";
import { type Say, say as saying } from "./words";
import { useWriting } from "./writing";

const browser: Language = navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";

/** What a report or a lesson is about stands only in a saved page, or in one that is dropped here. */
const LIVE = VIEWS.filter((view) => view !== "report" && view !== "lesson");

function useAddress(): [Address, (change: Partial<Address>) => void] {
  const here = (): Address => parse(location.hash || (savedPage()?.start ?? ""), browser);
  const [address, set] = useState(here);
  useEffect(() => {
    const read = (): void => set(here());
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);
  const go = useCallback((change: Partial<Address>): void => {
    set((before) => {
      const after = { ...before, ...change };
      const said = format(after, browser);
      if (said !== location.hash) {
        // Another view or sentence is a place to come back to; a choice within it is not.
        const isPlace =
          after.view !== before.view ||
          after.text !== before.text ||
          after.otherText !== before.otherText ||
          after.example !== before.example ||
          after.pair !== before.pair ||
          after.story !== before.story ||
          after.prompt !== before.prompt;
        try {
          history[isPlace ? "pushState" : "replaceState"](null, "", said);
        } catch {
          // In the frame of a notebook a page has no address of its own.
        }
      }
      return after;
    });
  }, []);
  return [address, go];
}

function useTheme(chosen: Address["theme"]): Theme {
  const question = useMemo(() => matchMedia("(prefers-color-scheme: dark)"), []);
  const [isDark, set] = useState(question.matches);
  useEffect(() => {
    const read = (): void => set(question.matches);
    question.addEventListener("change", read);
    return () => question.removeEventListener("change", read);
  }, [question]);
  return chosen === "auto" ? (isDark ? "dark" : "light") : chosen;
}

export function App(): JSX.Element {
  const [told, go] = useAddress();
  const [models, setModels] = useState<readonly Model[] | null>(null);
  const address = useMemo(() => begun(told, models), [told, models]);
  const theme = useTheme(address.theme);
  const say: Say = useCallback(
    (word, places) => saying(address.language, word, places),
    [address.language],
  );
  useEffect(() => {
    if (savedPage() !== null) {
      setModels([]);
      return;
    }
    void servedModels().then((found) => {
      // Where only language models are served, the page begins with what they do.
      const isBare = location.hash === "" && found.length > 0;
      if (isBare && !found.some(isLookedAt)) {
        location.replace(format({ ...parse("", browser), view: "generate" }, browser));
      }
      setModels(found);
    });
  }, []);
  useEffect(() => {
    const root = document.documentElement;
    root.lang = address.language === "zh" ? "zh-CN" : "en";
    root.dataset.theme = theme;
    root.dataset.size = address.isLarge ? "large" : "usual";
    document.title = `${say(address.view)} · Regard`;
  }, [address.language, address.isLarge, address.view, theme, say]);
  const translators = useMemo(() => models?.filter(isLookedAt) ?? null, [models]);
  const readers = useMemo(() => models?.filter((one) => !isPictured(one)) ?? null, [models]);
  const { shown, pending, isIdle, written, trouble, open, close } = useShown(
    address,
    translators,
    go,
    say,
  );
  const known = translators && modelOf(translators, address.model);
  const comparing = useComparing(address, readers, shown, say);
  const writing = useWriting(address, readers);
  const [given, give] = useState<Report | null>(null);
  const dropped = (files: readonly File[], isRight: boolean): void => {
    const [first, second] = files;
    if (first === undefined) return;
    if (first.name.endsWith(".html")) {
      void reportOf(first).then((found) => {
        if (found === null) return;
        give(found);
        go({ view: "report" });
      });
      return;
    }
    if (second !== undefined) {
      go({ view: "compare" });
      comparing.open(first, 0);
      comparing.open(second, 1);
    } else if (address.view === "compare") comparing.open(first, isRight ? 1 : 0);
    else open(first);
  };
  const stage: Stage | null =
    shown === null ? null : { address, go, say, theme, shown, models: translators ?? [], pending };
  const saved = savedPage();
  const report = given ?? saved?.report ?? null;
  const views = savedViews() ?? (given === null ? LIVE : [...LIVE, "report" as const]);
  return (
    <Place.Provider value={startOf(address)}>
      <Saying.Provider value={say}>
        <Dropping open={dropped} say={say}>
          <a class="skip" href="#content" onClick={focusContent}>
            {say("skip")}
          </a>
          <KeyAsking say={say} />
          <Header
            address={told}
            {...{ go, say, views }}
            isPicture={Boolean(shown?.trace.picture)}
          />
          <main id="content" tabIndex={-1}>
            {trouble && (
              <p class="trouble" role="alert">
                {trouble}
              </p>
            )}
            {address.view === "report" && report !== null ? (
              <ReportView {...{ address, say, theme, report }} />
            ) : address.view === "lesson" && saved?.lesson ? (
              <LessonView {...{ say, theme, lesson: saved.lesson }} />
            ) : address.view === "blocks" ? (
              <BlocksView {...{ address, go, say, theme }} isServed={models && models.length > 0} />
            ) : address.view === "generate" ? (
              <GenerateView
                {...{ address, go, say, theme, models: readers ?? [], writing, open, close }}
                opened={shown !== null && (shown.file !== null || saved !== null) ? shown : null}
              />
            ) : address.view === "training" ? (
              <TrainingView
                {...{ address, go, say, theme }}
                draft={shown !== null && shown.canned === null ? shown.trace.source.text : ""}
              />
            ) : address.view === "compare" ? (
              <CompareView {...{ address, go, say, theme, models: readers ?? [], comparing }} />
            ) : stage !== null && pending === null && address.view === "arithmetic" ? (
              <ArithmeticView {...stage} />
            ) : stage !== null && pending === null && address.view === "switchboard" ? (
              <SwitchboardView {...stage} />
            ) : (
              <>
                {translators !== null && saved === null && (
                  <Asking
                    {...{ address, go, say, pending, open, close, shown }}
                    models={translators}
                  />
                )}
                {stage !== null ? (
                  <LookView {...stage} />
                ) : pending !== null ? (
                  <PendingSentences pending={pending} say={say} />
                ) : written !== null ? (
                  <Card name="written" title={say("output")}>
                    <p>{written}</p>
                  </Card>
                ) : (
                  trouble === null && (
                    <p class="soft loading">
                      {isIdle
                        ? say(known?.reads === "pictures" ? "readyPicture" : "ready", {
                            name: known?.name ?? "",
                          })
                        : say("loading")}
                    </p>
                  )
                )}
              </>
            )}
          </main>
        </Dropping>
      </Saying.Provider>
    </Place.Provider>
  );
}

function focusContent(event: MouseEvent): void {
  event.preventDefault();
  document.getElementById("content")?.focus();
}
