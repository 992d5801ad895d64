// The numbers of a block, which the library computes: the service is asked while one is there;
// where there is none, a few questions and their answers are recorded.
import { useEffect, useState } from "preact/hooks";
import { Refused, answered, orUnreachable } from "../api";
import type { RecordedBlocks, Routes } from "../contract";
import { savedPage } from "../inlined";
import { asError } from "../trouble";

type Topic = keyof RecordedBlocks;
type Exchange<Of extends Topic> = Routes[`POST /api/v1/explain/${Of}`];

let recorded: Promise<RecordedBlocks> | null = null;
/** What the service answered last to each topic. */
const latest: Partial<Record<Topic, { question: unknown; answer: unknown }>> = {};

/** What a saved page keeps of the blocks: what is recorded, and before it what was asked last. */
export async function keptBlocks(): Promise<RecordedBlocks> {
  const all = await recordedBlocks();
  const kept = Object.entries(all).map(([topic, those]) => {
    const own = latest[topic as Topic];
    return [topic, own === undefined ? those : [own, ...those]];
  });
  return Object.fromEntries(kept) as RecordedBlocks;
}

async function fetchedBlocks(): Promise<RecordedBlocks> {
  const page = savedPage();
  if (page?.blocks) return page.blocks;
  const answer = await fetch("canned.blocks.json").catch(orUnreachable);
  if (!answer.ok) throw new Refused(`canned.blocks.json: ${answer.status}`);
  return (await answer.json()) as RecordedBlocks;
}

const recordedBlocks = (): Promise<RecordedBlocks> => {
  recorded ??= fetchedBlocks();
  recorded.catch(() => (recorded = null));
  return recorded;
};

/** One of the recorded ones; after the last the first comes again. */
export const turn = <One>(all: readonly One[], seed: number): One | undefined =>
  all[Math.max(0, seed - 1) % Math.max(1, all.length)];

/** What was answered last; while another question is on its way, that is what is shown.
 *
 * `pick` finds the recorded answer that comes nearest to the question; `seed` says which, where
 * the question does not. */
export function useNumbers<Of extends Topic>(
  topic: Of,
  isServed: boolean | null,
  question: Exchange<Of>["question"],
  pick: (all: RecordedBlocks[Of]) => Exchange<Of>["answer"] | undefined,
  seed = 0,
): Exchange<Of>["answer"] | Error | null {
  const [found, set] = useState<Exchange<Of>["answer"] | Error | null>(null);
  useEffect(() => {
    if (isServed === null) return;
    const breaking = new AbortController();
    const find = async (): Promise<Exchange<Of>["answer"] | null> =>
      isServed
        ? await answered(`explain/${topic}`, question, breaking.signal)
        : (pick((await recordedBlocks())[topic]) ?? null);
    const tell = (it: Exchange<Of>["answer"] | Error | null): void => {
      if (breaking.signal.aborted) return;
      if (isServed && it && !(it instanceof Error)) latest[topic] = { question, answer: it };
      set(it);
    };
    find()
      .then(tell)
      .catch((error: unknown) => tell(asError(error)));
    return () => breaking.abort();
  }, [topic, isServed, JSON.stringify(question), seed]);
  return found;
}
