// A saved page: the program, the style and the data in one file, which fetches nothing.
import type {
  AblateAnswer,
  RankedText,
  RecordedBlocks,
  RecordedSentence,
  RecordedTraining,
  RecordedVectors,
  SavedLesson,
} from "./contract";
import type { Report } from "./views/report";
import { NotATrace, type Trace } from "./trace";
import {
  type Nested,
  type Tensor,
  flat,
  nested,
  tensorsFromBytes,
  tensorsToBytes,
  traceFromBytes,
  traceToBytes,
} from "./trace_file";

/** The attention to the same tokens with all heads on, and with some off. */
export interface Retrace {
  before: Trace;
  after: Trace;
}

/** By the heads that are off. */
export type Retraces = Readonly<Record<string, Retrace>>;

/** A trace, and what else is known of it. */
export interface Held {
  /** what it is called; its model's name, if nothing else */
  name?: string;
  trace: Trace;
  hypotheses?: readonly RankedText[];
  sites?: readonly RecordedVectors[];
  ablations?: Readonly<Record<string, AblateAnswer>>;
  retraces?: Retraces;
}

/** A recorded sentence; a saved one may also tell where the model looks once heads are off. */
export type KeptSentence = RecordedSentence & { retraces?: Retraces };

/** What a page shows without asking anyone. */
export interface Contents {
  /** where it opens, as the part of an address after "#" */
  start: string;
  traces: readonly Held[];
  training: RecordedTraining | null;
  blocks: RecordedBlocks | null;
  report: Report | null;
  lesson: SavedLesson | null;
}

/** The same as it stands in the document: files in base64, compressed. */
interface Packed extends Omit<Contents, "traces"> {
  traces: readonly {
    name: string | null;
    trace: string;
    vectors: string | null;
    hypotheses: readonly RankedText[];
    ablations: Readonly<Record<string, AblateAnswer>>;
    retraces: Readonly<Record<string, { before: string; after: string }>>;
  }[];
}

/** What a saved page holds; `template` is the page without it. */
export interface SavedPage extends Omit<Contents, "traces"> {
  traces: readonly KeptSentence[];
  template: string;
}

const PLACE = '<script type="application/json" id="data"></script>';
const PARTS = ["queries", "keys", "values", "sums", "scores", "contexts"] as const;

let page: SavedPage | null = null;

/** What this page holds, if it is a saved one. */
export const savedPage = (): SavedPage | null => page;

async function through(
  bytes: Uint8Array<ArrayBuffer>,
  stream: CompressionStream | DecompressionStream,
): Promise<ArrayBuffer> {
  return new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer();
}

async function unpacked(text: string): Promise<ArrayBuffer> {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return through(bytes, new DecompressionStream("gzip"));
}

async function packed(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const small = new Uint8Array(await through(bytes, new CompressionStream("gzip")));
  const parts: string[] = [];
  for (let at = 0; at < small.length; at += 0x8000) {
    parts.push(String.fromCharCode(...small.subarray(at, at + 0x8000)));
  }
  return btoa(parts.join(""));
}

/** The numbers behind the weights, from a file whose arrays are called as in "cross.1.queries". */
export function vectorsFromBytes(bytes: ArrayBuffer): RecordedVectors[] {
  const { arrays } = tensorsFromBytes(bytes);
  const bases = Object.keys(arrays).filter((name) => name.endsWith(".queries"));
  return bases.map((name) => {
    const [kind, layer] = name.split(".");
    const of = (part: string): Tensor => {
      const array = arrays[`${kind}.${layer}.${part}`];
      if (array === undefined) throw new NotATrace();
      return array;
    };
    const parts = PARTS.map((part) => [part, nested(of(part))] as const);
    const rows = nested(of("may_see")) as readonly (readonly number[])[];
    return {
      kind: kind as RecordedVectors["kind"],
      layer: Number(layer),
      ...(Object.fromEntries(parts) as Pick<RecordedVectors, (typeof PARTS)[number]>),
      divisor: arrays[`${kind}.${layer}.divisor`]?.values[0] ?? null,
      may_see: rows.map((row) => row.map((seen) => seen === 1)),
    };
  });
}

function vectorsToBytes(sites: readonly RecordedVectors[]): Uint8Array<ArrayBuffer> {
  const arrays: Record<string, Tensor> = {};
  for (const site of sites) {
    const base = `${site.kind}.${site.layer}`;
    for (const part of PARTS) arrays[`${base}.${part}`] = flat(site[part] as Nested);
    arrays[`${base}.may_see`] = flat(site.may_see.map((row) => row.map(Number)));
    if (site.divisor !== null) arrays[`${base}.divisor`] = flat([site.divisor]);
  }
  return tensorsToBytes({ said: {}, arrays });
}

/** Read what stands in the document, once, before anything is drawn; nothing if nothing does. */
export async function readDocument(): Promise<SavedPage | null> {
  const element = document.getElementById("data");
  if (element === null) return null;
  const { traces, ...rest } = JSON.parse(element.textContent ?? "") as Packed;
  element.textContent = "";
  const template = `<!doctype html>\n${document.documentElement.outerHTML}\n`;
  const found = traces.map(async (one): Promise<KeptSentence> => {
    const again = Object.entries(one.retraces).map(async ([heads, { before, after }]) => {
      const [all, some] = await Promise.all([before, after].map(unpacked));
      const traces = all && some && { before: traceFromBytes(all), after: traceFromBytes(some) };
      return [heads, traces] as const;
    });
    const trace = traceFromBytes(await unpacked(one.trace));
    return {
      name: one.name ?? trace.provenance.model,
      trace,
      hypotheses: [...one.hypotheses],
      sites: one.vectors === null ? [] : vectorsFromBytes(await unpacked(one.vectors)),
      ablations: { ...one.ablations },
      retraces: Object.fromEntries(await Promise.all(again)) as Retraces,
    };
  });
  page = { ...rest, traces: await Promise.all(found), template };
  return page;
}

/** The report of a page that was saved as a file; nothing if it holds none. */
export async function reportOf(file: File): Promise<Report | null> {
  const opening = PLACE.replace("</script>", "");
  const [, after = ""] = (await file.text()).split(opening, 2);
  try {
    const data = JSON.parse(after.slice(0, after.indexOf("</script>"))) as Partial<Packed>;
    return data.report ?? null;
  } catch {
    return null;
  }
}

async function fileText(name: string): Promise<string> {
  const answer = await fetch(name);
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return answer.text();
}

/** The page without its data: a saved one is its own, a served one is put together. */
async function template(): Promise<string> {
  if (page !== null) return page.template;
  const [whole, style, script] = await Promise.all(
    ["saved.html", "studio.css", "studio.js"].map(fileText),
  );
  return (whole ?? "")
    .replace("/* studio.css */", () => style ?? "")
    .replace("/* studio.js */", () => script ?? "");
}

/** A page of one file that shows these contents to whoever opens it. */
export async function savedText(contents: Contents): Promise<string> {
  const traces = contents.traces.map(async (one): Promise<Packed["traces"][number]> => {
    const sites = one.sites ?? [];
    const again = Object.entries(one.retraces ?? {}).map(async ([heads, { before, after }]) => {
      const [all = "", some = ""] = await Promise.all(
        [before, after].map((trace) => packed(traceToBytes(trace))),
      );
      return [heads, { before: all, after: some }] as const;
    });
    return {
      name: one.name ?? null,
      trace: await packed(traceToBytes(one.trace)),
      vectors: sites.length > 0 ? await packed(vectorsToBytes(sites)) : null,
      hypotheses: one.hypotheses ?? [],
      ablations: one.ablations ?? {},
      retraces: Object.fromEntries(await Promise.all(again)),
    };
  });
  const data: Packed = { ...contents, traces: await Promise.all(traces) };
  // Nothing in a text may end the element that holds it.
  const text = JSON.stringify(data).replaceAll("<", "\\u003c");
  return (await template()).replace(PLACE, () => PLACE.replace("></", () => `>${text}</`));
}
