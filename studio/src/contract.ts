// Made of contract.json, which is made of the models in Python: see build.mjs.

import type { Schema } from "./validation";

/** What the model wrote before and after, and what each old token lost in log-probability. */
export type AblateAnswer = {
  model: string;
  heads: readonly string[];
  before: string;
  after: string;
  has_changed: boolean;
  tokens: readonly string[];
  changes: readonly number[];
  change: number;
};

/** Heads to change, as in ``cross.1.0`` or, for all of a layer, ``cross.1``. */
export type AblateQuestion = {
  model?: string | null;
  source: string;
  target?: string | null;
  /** Width of the beam of a translation. */
  beam?: number;
  /** Tokens that a language model writes on; else one. */
  new?: number | null;
  heads: readonly string[];
  change?: "off" | "uniform" | "argmax";
};

/** ``matrix[j][i]``: how much target word j looked at source word i. */
export type AlignmentAnswer = {
  source_words: readonly string[];
  target_words: readonly string[];
  matrix: readonly (readonly number[])[];
  links: readonly (readonly [number, number])[];
  layer: number;
};

/** A token that could have been written. */
export type Alternative = {
  id: number;
  text: string;
  log_probability: number;
};

/** What was answered, and what of the conversation the model had read. */
export type Answer = {
  text: string;
  tokens: readonly number[];
  source: string;
  n_left_out: number;
};

/** What a request may ask for, how many sentences may wait, and what a connection may take. */
export type Bounds = {
  characters: number;
  sentences: number;
  tokens: number;
  looked: number;
  body: number;
  seconds: number;
  waiting: number;
  beam: number;
  new_tokens: number;
  connections: number;
  head_seconds: number;
  body_seconds: number;
  idle_seconds: number;
};

/** What a picture shows, in words. */
export type Caption = {
  text: string;
  tokens: readonly number[];
  pieces: readonly string[];
  log_probability: number;
  score?: number;
  others?: readonly Caption[];
};

/** How the weight came about; ``score = sum / divisor`` where these are there. */
export type CellAnswer = {
  model: string;
  site: "encoder" | "decoder" | "cross";
  layer: number;
  head: number;
  row: number;
  column: number;
  row_token: string;
  column_token: string;
  column_tokens: readonly string[];
  formula: string;
  query: readonly number[];
  key: readonly number[];
  products: readonly number[] | null;
  sum: number | null;
  divisor: number | null;
  score: number;
  scores: readonly number[];
  may_see: readonly boolean[];
  weights: readonly number[];
  values: readonly (readonly number[])[];
  context: readonly number[];
};

/** One weight: the query of a row and the key of a column, in one head. */
export type CellQuestion = {
  model?: string | null;
  source: string;
  target?: string | null;
  /** Width of the beam of a translation. */
  beam?: number;
  /** Tokens that a language model writes on; else one. */
  new?: number | null;
  /** What there is, if it is not said: cross, or else the first of these. */
  site?: "encoder" | "decoder" | "cross" | null;
  layer?: number;
  head?: number;
  row?: number;
  column?: number;
};

/** What was written; of a stream, a piece of it, and at its end how many tokens it was. */
export type CompletionAnswer = {
  id: string;
  object: "text_completion";
  created: number;
  model: string;
  choices: readonly CompletionChoice[];
  usage?: CompletionUsage | null;
};

/** A text, or a piece of one; without a reason it goes on. */
export type CompletionChoice = {
  index: number;
  text: string;
  logprobs: null;
  finish_reason: "stop" | "length" | null;
};

/** What is asked of /v1/completions; words that change nothing here are let pass. */
export type CompletionQuestion = {
  model: string;
  prompt?: string | readonly string[];
  max_tokens?: number | null;
  temperature?: number | null;
  top_p?: number | null;
  n?: number | null;
  best_of?: number | null;
  stop?: string | readonly string[] | null;
  seed?: number | null;
  echo?: boolean | null;
  suffix?: string | null;
  logprobs?: number | null;
  frequency_penalty?: number | null;
  presence_penalty?: number | null;
  logit_bias?: { [name: string]: number } | null;
  stream?: boolean | null;
  stream_options?: StreamOptions | null;
};

/** How many tokens were read and written. */
export type CompletionUsage = {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
};

/** What has happened since the cursor; all of it where ``is_whole``. */
export type CurvesAnswer = {
  run: RunAnswer;
  cursor: string;
  is_whole: boolean;
  steps: StepsAnswer;
  validations: readonly ValidationAnswer[];
};

/** A language, and how sure one can be of it, in percent. */
export type Detected = {
  confidence: number;
  language: string;
};

/** The end of a stream that could not go on. */
export type ErrorEvent = {
  event: "error";
  error: string;
  code: string;
};

/** One step: what is done, as a formula, in words, and in numbers. */
export type ExplainedStep = {
  title: string;
  formula: string;
  prose: string;
  tables: readonly NumberTable[];
};

/** A picture of a trace, or the page with all of them (html), or its numbers (json). */
export type ExportQuestion = {
  model?: string | null;
  source: string;
  target?: string | null;
  /** Width of the beam of a translation. */
  beam?: number;
  /** Tokens that a language model writes on; else one. */
  new?: number | null;
  format?: "svg" | "png" | "pdf" | "html" | "json";
  view?: ViewQuestion;
};

/** For each [MASK] the words that fit best, best first. */
export type FillAnswer = {
  model: string;
  /** A word as plain text; its token as the vocabulary has it, so that no two are alike: `▁cat` has a space before it, `cat` (`##cat` in word pieces) goes on from what stands there, `<0xE4>` is a byte; its probability; and the text with it in its place. */
  gaps: readonly (readonly FoundWord[])[];
};

/** A text with [MASK] where words are missing, and how many words to find for each. */
export type FillQuestion = {
  model?: string | null;
  text: string;
  k?: number;
};

/** A text with gaps, and for each [MASK] the words that fit best, best first. */
export type FilledText = {
  text: string;
  gaps: readonly (readonly FoundWord[])[];
};

/** A word that may have been taken out, and how probable it is. */
export type FoundWord = {
  word: string;
  token: string;
  probability: number;
  text: string;
};

/** What LibreTranslate's clients may ask before they begin. */
export type FrontendSettings = {
  charLimit: number;
  apiKeys: boolean;
  keyRequired: boolean;
  suggestions: boolean;
  filesTranslation: boolean;
  supportedFilesFormat: readonly string[];
  language: LanguageChoice;
};

/** How to go on from a prompt; a temperature of 0 takes the most probable token. */
export type GenerateQuestion = {
  /** A name of /api/v1/info; else the first. */
  model?: string | null;
  prompt?: string;
  max_tokens?: number;
  temperature?: number;
  /** Among the K most probable; 0: all. */
  top_k?: number;
  /** Among the fewest that reach this share. */
  top_p?: number;
  seed?: number;
};

/** The end of a story, and why it is the end. */
export type GeneratedEvent = {
  event: "done";
  /** `length` where no more was asked for, or no more can be looked at. */
  reason: "stop" | "length";
};

/** One look: its middle and the sides of its patches in pixels, and what was believed then. */
export type Glimpse = {
  x: number;
  y: number;
  sides: readonly number[];
  beliefs: readonly (readonly [string, number])[];
};

/** What a head does in this sentence, each number a mean over its rows. */
export type HeadAnswer = {
  kind: "encoder" | "decoder" | "cross";
  layer: number;
  head: number;
  entropy: number;
  largest: number;
  on_special: number;
  before: number | null;
  itself: number | null;
  after: number | null;
  is_uniform: boolean;
};

/** Every head. */
export type HeadsAnswer = {
  model: string;
  source: string;
  target: string;
  heads: readonly HeadAnswer[];
};

/** The service is there, and its C++ kernels are for these instructions (null: none). */
export type HealthAnswer = {
  status: "ok";
  kernels: string | null;
};

/** One translation. */
export type HypothesisAnswer = {
  text: string;
  score: number;
  log_probability: number;
  tokens: readonly string[];
  alignment: AlignmentAnswer | null;
};

/** What is served, and how much one may ask for. */
export type InfoAnswer = {
  version: string;
  models: readonly ModelAnswer[];
  limits: Bounds;
};

/** A language one can translate from, and those it can be translated to. */
export type Language = {
  code: string;
  name: string;
  targets: readonly string[];
};

/** What one translates between unless something else is said. */
export type LanguageChoice = {
  source: NamedLanguage;
  target: NamedLanguage;
};

/** A text for a text, a list for a list. */
export type LibreTranslateAnswer = {
  translatedText: string | readonly string[];
  detectedLanguage?: Detected | readonly Detected[] | null;
  alternatives?: readonly string[] | readonly (readonly string[])[] | null;
};

/** Who may look where, and the weights that come of it; words beyond the end are ``<pad>``. */
export type MaskNumbers = {
  words: readonly string[];
  mask: readonly (readonly boolean[])[];
  weights: readonly (readonly number[])[];
};

/** Which masks together; queries and keys are random. */
export type MasksQuestion = {
  masks?: readonly ("causal" | "padding" | "window")[];
  seed?: number;
};

/** A served model. */
export type ModelAnswer = {
  name: string;
  /** What it is for: translate, write, fill, classify, tag, ... */
  does: string;
  /** What it is given: texts, pictures in base64, or seeds to draw from. */
  reads: "texts" | "pictures" | "seeds";
  source_language: string | null;
  target_language: string | null;
  kind: string | null;
  recipe: string | null;
  parameters: number | null;
  vocabulary: number | null;
  /** For each kind of attention, the heads of its layers. */
  heads: { [name: string]: readonly number[] };
};

/** A trace, and what the model itself wrote then, if it translates. */
export type MomentAnswer = {
  run: string;
  update: number | null;
  output: string | null;
  trace: TraceDocument;
};

/** A text to look at, and the update whose weights look; without one those the folder holds. */
export type MomentQuestion = {
  run: string;
  update?: number | null;
  source: string;
  target?: string | null;
};

/** A language and what it is called. */
export type NamedLanguage = {
  code: string;
  name: string;
};

/** Features (rows) of examples (columns), normalised both ways.

``residual`` takes the first example through a layer: x, F(x), F(x) + x and the norm of that. */
export type NormNumbers = {
  table: readonly (readonly number[])[];
  batch_norm: readonly (readonly number[])[];
  layer_norm: readonly (readonly number[])[];
  residual: readonly (readonly number[])[];
};

/** Features (rows) of examples (columns); without a table, the lecture's. */
export type NormsQuestion = {
  table?: readonly (readonly number[])[] | null;
};

/** Labelled rows and columns of numbers.

``look`` says what the numbers are, so that a reader's eye can be helped: ``signed`` around
zero, ``share`` from 0 to 1, ``bars`` one column of shares, ``text`` words, ``plain`` neither.
``focus`` is the row to point at, ``probe`` the place in the model where the numbers were heard. */
export type NumberTable = {
  name: string;
  rows: readonly string[];
  columns: readonly string[];
  cells: readonly (readonly (number | string)[])[];
  look: "plain" | "signed" | "share" | "bars" | "text";
  decimals: number;
  focus: number | null;
  probe: string | null;
};

/** A model that writes text. */
export type OpenAIModel = {
  id: string;
  object: "model";
  created: number;
  owned_by: string;
};

/** Every model that writes text. */
export type OpenAIModels = {
  object: "list";
  data: readonly OpenAIModel[];
};

/** The same sentence and code, in an object. */
export type OpenAIProblem = {
  error: OpenAIRefusal;
};

/** Why a request was not taken, as OpenAI's clients read it. */
export type OpenAIRefusal = {
  message: string;
  type: "invalid_request_error" | "server_error";
  param: string | null;
  code: string;
};

/** A text, and the tree of its words. */
export type ParsedText = {
  text: string;
  words: readonly ParsedWord[];
};

/** A word of a text, the number of its governor (from 1; 0 is the root) and its relation. */
export type ParsedWord = {
  word: string;
  head: number;
  relation: string;
  start: number;
  end: number;
};

/** The best unfinished output of a sentence so far. */
export type PartialEvent = {
  event: "partial";
  sentence: number;
  text: string;
};

/** A picture with its pixels. */
export type PictureDocument = {
  /** Rows and columns of cells. */
  grid: readonly [number, number];
  /** Of a model that moves over the picture, for each look: x, y and the sides of what it saw, in pixels. */
  gazes?: readonly (readonly number[])[];
  /** Left, top, right and bottom of each cell, in pixels; the last two excluded. */
  boxes: readonly (readonly [number, number, number, number])[];
  /** A PNG file in base64. */
  png: string;
};

/** A picture as the source: the source's tokens are its cells, row by row. */
export type PictureHeader = {
  /** Rows and columns of cells. */
  grid: readonly [number, number];
  /** Of a model that moves over the picture, for each look: x, y and the sides of what it saw, in pixels. */
  gazes?: readonly (readonly number[])[];
};

/** What a picture shows, how probable that is, and the glimpses that told it. */
export type PictureLabel = {
  label: string;
  probability: number;
  others?: readonly PictureLabel[];
  glimpses?: readonly Glimpse[];
};

/** The encoding of each place, and the products of the first places with each other. */
export type PositionNumbers = {
  encoding: readonly (readonly number[])[];
  alike: readonly (readonly number[])[];
};

/** How many places, and how many numbers (an even count) for each. */
export type PositionsQuestion = {
  length?: number;
  width?: number;
};

/** Why a request was not taken, in one sentence, and a code that does not change. */
export type Problem = {
  error: string;
  code: string;
};

/** Where a trace comes from; no date, so that the same trace has the same bytes. */
export type Provenance = {
  model: string;
  kind: string;
  recipe: string;
  seed: number;
  version: string;
  is_forced: boolean;
  n_left_out?: number;
  difference?: number;
};

/** A text that a search found, and how it ranks among others. */
export type RankedText = {
  text: string;
  score: number;
  log_probability: number;
};

/** canned.blocks.json: questions that the service would be asked, and its answers. */
export type RecordedBlocks = {
  positions: readonly RecordedPositions[];
  masks: readonly RecordedMasks[];
  norms: readonly RecordedNorms[];
  scores: readonly RecordedScores[];
};

/** src/lecture.json: the lectures' worked example, two words that look at each other. */
export type RecordedLecture = {
  words: readonly string[];
  vectors: RecordedVectors;
  weights: readonly (readonly (readonly number[])[])[];
};

/** Some of the masks together. */
export type RecordedMasks = {
  question: MasksQuestion;
  answer: MaskNumbers;
};

/** What the heads looked at after an update, and what the model wrote then. */
export type RecordedMoment = {
  update: number | null;
  output: string | null;
  sites: readonly SiteDocument[];
};

/** A table, normalised. */
export type RecordedNorms = {
  question: NormsQuestion;
  answer: NormNumbers;
};

/** An encoding; its first rows are that of fewer places. */
export type RecordedPositions = {
  question: PositionsQuestion;
  answer: PositionNumbers;
};

/** A query and what the scores make of it. */
export type RecordedScores = {
  question: ScoresQuestion;
  answer: ScoreNumbers;
};

/** canned.NAME.json: a sentence, and what can be asked of it. */
export type RecordedSentence = {
  name: string;
  trace: TraceDocument;
  hypotheses: readonly RankedText[];
  sites: readonly RecordedVectors[];
  /** By the head that is switched off. */
  ablations: { [name: string]: AblateAnswer };
};

/** canned.training.json: curves of runs, and the heads of one of them on the way. */
export type RecordedTraining = {
  runs: readonly CurvesAnswer[];
  /** The run whose moments these are. */
  run: string;
  /** None where no text was looked at. */
  trace: TraceDocument | null;
  moments: readonly RecordedMoment[];
};

/** The numbers behind the weights of a site, ``score = sum / divisor``.

Vectors are ``[head][place][dimension]``, sums and scores ``[head][row][column]``. */
export type RecordedVectors = {
  kind: "encoder" | "decoder" | "cross";
  layer: number;
  queries: readonly (readonly (readonly number[])[])[];
  keys: readonly (readonly (readonly number[])[])[];
  values: readonly (readonly (readonly number[])[])[];
  sums: readonly (readonly (readonly number[])[])[];
  divisor: number | null;
  scores: readonly (readonly (readonly number[])[])[];
  may_see: readonly (readonly boolean[])[];
  contexts: readonly (readonly (readonly number[])[])[];
};

/** A run, and how it stands. */
export type RunAnswer = {
  name: string;
  state: "preparing" | "training" | "quiet" | "finished" | "stopped";
  recipe: string | null;
  kind: string | null;
  /** What the best weights are best by. */
  measure: string | null;
  update: number;
  /** How many there will be; null of a budget of time. */
  updates: number | null;
  /** The budget of time, where the run has one. */
  minutes: number | null;
  epoch: number;
  seconds: number;
  /** Seconds since it last wrote anything. */
  silent: number;
  /** Why it is over. */
  reason: string | null;
  /** Which weights were kept. */
  chosen: string | null;
  /** Updates whose weights are there to look at; null are those the folder holds. */
  moments: readonly (number | null)[];
};

/** Every run that is there now. */
export type RunsAnswer = {
  runs: readonly RunAnswer[];
};

/** What `regard explain --save x.html` inlines; cells that are no finite numbers are words. */
export type SavedLesson = {
  topic: string;
  title: string;
  lead: string;
  steps: readonly ExplainedStep[];
};

/** The weights that each score gives the same keys. */
export type ScoreNumbers = {
  query: readonly number[];
  keys: readonly (readonly number[])[];
  names: readonly string[];
  formulas: readonly string[];
  weights: readonly (readonly number[])[];
};

/** Keys and parameters are random; without a query, so is that. */
export type ScoresQuestion = {
  seed?: number;
  query?: readonly number[] | null;
};

/** A text with its words, and its tokens in the order in which the model reads or writes them.

What a decoder reads before it writes the first of them is not among them: ``first``, which is
<BOS> unless it is said. */
export type Sentence = {
  text: string;
  words: readonly Word[];
  tokens: readonly Token[];
  first?: Token | null;
};

/** The translations of one sentence, best first, and its words that the model does not know. */
export type SentenceAnswer = {
  hypotheses: readonly HypothesisAnswer[];
  unknown: readonly string[];
};

/** The translations of a sentence, when all of it is decoded. */
export type SentenceEvent = {
  hypotheses: readonly HypothesisAnswer[];
  unknown: readonly string[];
  event: "sentence";
  sentence: number;
};

/** A text to look at, and what to read as the model's answer; else its own is found.

The answer is a translation, what comes after the text, or the text without its [MASK]s. */
export type SightQuestion = {
  model?: string | null;
  source: string;
  target?: string | null;
  /** Width of the beam of a translation. */
  beam?: number;
  /** Tokens that a language model writes on; else one. */
  new?: number | null;
};

/** One place where the model attends, with its weights. */
export type SiteDocument = {
  kind: "encoder" | "decoder" | "cross";
  /** From 0, of its kind. */
  layer: number;
  /** Of each head, whether it hardly prefers anything. */
  is_uniform: readonly boolean[];
  /** Not where a window fades out (Luong's local-p). */
  sums_to_one: boolean;
  /** What a row is, in words; a document that the page wrote has none. */
  rows?: string | null;
  /** What a column is, in words. */
  columns?: string | null;
  /** weights[head][row][column] */
  weights: readonly (readonly (readonly number[])[])[];
};

/** One place where the model attends. */
export type SiteHeader = {
  kind: "encoder" | "decoder" | "cross";
  /** From 0, of its kind. */
  layer: number;
  /** Of each head, whether it hardly prefers anything. */
  is_uniform: readonly boolean[];
  /** Not where a window fades out (Luong's local-p). */
  sums_to_one: boolean;
};

/** Curves, a list each; every tenth update, or means of more of them. */
export type StepsAnswer = {
  update: readonly (number | null)[];
  seconds: readonly (number | null)[];
  loss: readonly (number | null)[];
  learning_rate: readonly (number | null)[];
  gradient_norm: readonly (number | null)[];
  /** Target tokens; of a BERT all that it reads, of which it counts the share that is masked; of a model that tells labels its labels. */
  tokens_per_second: readonly (number | null)[];
};

/** Whether the last event says how many tokens there were. */
export type StreamOptions = {
  include_usage?: boolean;
};

/** What a text says, in few words. */
export type Summary = {
  text: string;
  tokens: readonly number[];
  n_read: number;
  share_read: number;
};

/** A text, and its words with their tags. */
export type TaggedText = {
  text: string;
  words: readonly TaggedWord[];
};

/** A word of a text, its tag, and how probable that is. */
export type TaggedWord = {
  label: string;
  probability: number;
  word: string;
  start: number;
  end: number;
};

/** A label, how probable it is, and the next likeliest where several were asked for. */
export type TextLabel = {
  label: string;
  probability: number;
  others?: readonly TextLabel[];
};

/** One token, with the characters of the original string it stands for.

``text[start:end]`` is what the token covers, without the spaces around it. Tokens that share a
character (its bytes, or the letters of a ligature) all cover that whole character. ``word`` is
an index into ``words.split(text)``, or None if the token is special. */
export type Token = {
  id: number;
  text: string;
  start: number;
  end: number;
  word?: number | null;
};

/** A token as it is written: its id, what it adds to the text, its log-probability. */
export type TokenEvent = {
  event: "token";
  id: number;
  text: string;
  log_probability: number;
};

/** A trace as JSON, weights included: six digits each. */
export type TraceDocument = {
  /** 1: of texts; 2: of a picture. */
  format: number;
  source: Sentence;
  target: Sentence;
  sites: readonly SiteDocument[];
  steps: readonly TracedStep[];
  provenance: Provenance;
  /** The cross layer that best tells which word came from which. */
  aligning: number | null;
  /** Repetitions that each token took. */
  depths: { [name: string]: readonly number[] };
  does?: "translate" | "write" | "fill";
  picture?: PictureDocument | null;
  /** Of all else; a JSON document and files of before have none. */
  crc32?: number | null;
  /** What is added for each place. */
  positions?: readonly (readonly number[])[] | null;
};

/** What a trace file says beside its arrays. */
export type TraceHeader = {
  /** 1: of texts; 2: of a picture. */
  format: number;
  source: Sentence;
  target: Sentence;
  sites: readonly SiteHeader[];
  steps: readonly TracedStep[];
  provenance: Provenance;
  /** The cross layer that best tells which word came from which. */
  aligning: number | null;
  /** Repetitions that each token took. */
  depths: { [name: string]: readonly number[] };
  does?: "translate" | "write" | "fill";
  picture?: PictureHeader | null;
  /** Of all else; a JSON document and files of before have none. */
  crc32?: number | null;
};

/** A trace as JSON or as a file; float16 halves the file, for programs that only show it. */
export type TraceQuestion = {
  model?: string | null;
  source: string;
  target?: string | null;
  /** Width of the beam of a translation. */
  beam?: number;
  /** Tokens that a language model writes on; else one. */
  new?: number | null;
  format?: "json" | "safetensors";
  precision?: "float32" | "float16";
  /** Heads to change, as for `ablate`: the trace is of the tokens that the model writes without the change, so that its cells are the same. */
  heads?: readonly string[];
  change?: "off" | "uniform" | "argmax";
};

/** How probable a token of the target was, and which ones were the most probable there. */
export type TracedStep = {
  log_probability: number;
  alternatives: readonly Alternative[];
};

/** As many as there were sentences, in their order. */
export type TranslateAnswer = {
  model: string;
  translations: readonly SentenceAnswer[];
};

/** One sentence or many. */
export type TranslateQuestion = {
  /** A name of /api/v1/info; else the first. */
  model?: string | null;
  /** Width of the beam; 1 is greedy search. */
  beam?: number;
  /** Length penalty. */
  alpha?: number;
  /** How many translations of each sentence. */
  n_best?: number;
  text: string | readonly string[];
  /** Add which word came from which. */
  alignments?: boolean;
};

/** The end of a stream: every sentence was told. */
export type TranslatedEvent = {
  event: "done";
};

/** One translation of a sentence. */
export type Translation = {
  text: string;
  tokens: readonly number[];
  pieces: readonly string[];
  log_probability: number;
  score?: number;
  n_left_out?: number;
  unknown?: readonly string[];
  others?: readonly Translation[];
};

/** A result for each input, in their order; what it holds depends on what the model does. */
export type UseAnswer = {
  model: string;
  does: string;
  results: readonly (
    | Translation
    | Caption
    | Answer
    | WrittenText
    | FilledText
    | TaggedText
    | ParsedText
    | TextLabel
    | PictureLabel
    | Summary
  )[];
};

/** Inputs for a model, whatever it does: texts, or PNG and JPEG files in base64.

For a model that judges texts in pairs, an input is a list of two. */
export type UseQuestion = {
  /** A name of /api/v1/info; else the first. */
  model?: string | null;
  inputs: readonly (string | readonly string[])[];
};

/** What was measured on held-out data. */
export type ValidationAnswer = {
  update: number;
  seconds: number | null;
  loss: number | null;
  perplexity: number | null;
  bits_per_character: number | null;
  bleu: number | null;
  chrf: number | null;
  is_best: boolean;
};

/** What of a trace is seen. */
export type ViewQuestion = {
  form?:
    "lines" | "matrix" | "grid" | "alignment" | "positions" | "strip" | "overview" | "pictures";
  site?: "encoder" | "decoder" | "cross" | null;
  layer?: number | null;
  heads?: readonly number[] | null;
  word?: number | string | null;
  merges?: boolean;
  hides_special?: boolean;
  reading?: "predicting" | "reading" | null;
  top_k?: number | null;
  theme?: "light" | "dark";
};

/** A word, a Chinese character or a sign, and where it stands in the string. */
export type Word = {
  text: string;
  start: number;
  end: number;
};

/** A prompt, and the ids of the tokens that were written after it. */
export type WrittenQuestion = {
  model?: string | null;
  prompt?: string;
  tokens: readonly number[];
  precision?: "float32" | "float16";
};

/** What a model wrote after a prompt. */
export type WrittenText = {
  prompt: string;
  text: string;
};

/** What each route is asked, and what it answers. */
export type Routes = {
  "GET /api/v1/info": {
    answer: InfoAnswer;
  };
  "GET /api/v1/runs": {
    answer: RunsAnswer;
  };
  "GET /api/v1/runs/curves": {
    answer: CurvesAnswer;
  };
  "GET /frontend/settings": {
    answer: FrontendSettings;
  };
  "GET /health": {
    answer: HealthAnswer;
  };
  "GET /languages": {
    answer: readonly Language[];
  };
  "GET /metrics": {};
  "GET /v1/models": {
    answer: OpenAIModels;
  };
  "GET /v1/models/{name}": {
    answer: OpenAIModel;
  };
  "POST /api/v1/ablate": {
    question: AblateQuestion;
    answer: AblateAnswer;
  };
  "POST /api/v1/arithmetic": {
    question: CellQuestion;
    answer: CellAnswer;
  };
  "POST /api/v1/explain/masks": {
    question: MasksQuestion;
    answer: MaskNumbers;
  };
  "POST /api/v1/explain/norms": {
    question: NormsQuestion;
    answer: NormNumbers;
  };
  "POST /api/v1/explain/positions": {
    question: PositionsQuestion;
    answer: PositionNumbers;
  };
  "POST /api/v1/explain/scores": {
    question: ScoresQuestion;
    answer: ScoreNumbers;
  };
  "POST /api/v1/export": {
    question: ExportQuestion;
    answer: string;
  };
  "POST /api/v1/fill": {
    question: FillQuestion;
    answer: FillAnswer;
  };
  "POST /api/v1/generate": {
    question: GenerateQuestion;
    answer: TokenEvent | GeneratedEvent | ErrorEvent;
  };
  "POST /api/v1/generate/trace": {
    question: WrittenQuestion;
  };
  "POST /api/v1/heads": {
    question: SightQuestion;
    answer: HeadsAnswer;
  };
  "POST /api/v1/runs/moment": {
    question: MomentQuestion;
    answer: MomentAnswer;
  };
  "POST /api/v1/trace": {
    question: TraceQuestion;
    answer: TraceDocument;
  };
  "POST /api/v1/translate": {
    question: TranslateQuestion;
    answer: TranslateAnswer;
  };
  "POST /api/v1/translate/stream": {
    question: TranslateQuestion;
    answer: PartialEvent | SentenceEvent | TranslatedEvent | ErrorEvent;
  };
  "POST /api/v1/use": {
    question: UseQuestion;
    answer: UseAnswer;
  };
  "POST /api/v1/vectors": {
    question: SightQuestion;
  };
  "POST /detect": {
    /** A text, whose language is asked. */
    question: {
      api_key?: string | null;
      q: string;
    };
    answer: readonly Detected[];
  };
  "POST /translate": {
    /** A text or a list, from one language to another; ``auto`` lets the script decide. */
    question: {
      api_key?: string | null;
      q: string | readonly string[];
      source: string;
      target: string;
      format?: string;
      alternatives?: number;
    };
    answer: LibreTranslateAnswer;
  };
  "POST /v1/completions": {
    question: CompletionQuestion;
    answer: CompletionAnswer;
  };
};

/** Of a trace, as JSON and as the header of its file. */

export const SCHEMAS = {
  Alternative: {
    additionalProperties: false,
    properties: {
      id: { type: "integer" },
      text: { type: "string" },
      log_probability: { type: "number" },
    },
    required: ["id", "text", "log_probability"],
    type: "object",
  },
  PictureDocument: {
    additionalProperties: false,
    properties: {
      grid: {
        maxItems: 2,
        minItems: 2,
        prefixItems: [{ type: "integer" }, { type: "integer" }],
        type: "array",
      },
      gazes: { items: { items: { type: "number" }, type: "array" }, type: "array" },
      boxes: {
        items: {
          maxItems: 4,
          minItems: 4,
          prefixItems: [
            { type: "integer" },
            { type: "integer" },
            { type: "integer" },
            { type: "integer" },
          ],
          type: "array",
        },
        type: "array",
      },
      png: { pattern: "^[A-Za-z0-9+/]+=*$", type: "string" },
    },
    required: ["grid", "boxes", "png"],
    type: "object",
  },
  PictureHeader: {
    additionalProperties: false,
    properties: {
      grid: {
        maxItems: 2,
        minItems: 2,
        prefixItems: [{ type: "integer" }, { type: "integer" }],
        type: "array",
      },
      gazes: { items: { items: { type: "number" }, type: "array" }, type: "array" },
    },
    required: ["grid"],
    type: "object",
  },
  Provenance: {
    additionalProperties: false,
    properties: {
      model: { type: "string" },
      kind: { type: "string" },
      recipe: { type: "string" },
      seed: { type: "integer" },
      version: { type: "string" },
      is_forced: { type: "boolean" },
      n_left_out: { type: "integer" },
      difference: { type: "number" },
    },
    required: ["model", "kind", "recipe", "seed", "version", "is_forced"],
    type: "object",
  },
  Sentence: {
    additionalProperties: false,
    properties: {
      text: { type: "string" },
      words: { items: { $ref: "#/$defs/Word" }, type: "array" },
      tokens: { items: { $ref: "#/$defs/Token" }, type: "array" },
      first: { anyOf: [{ $ref: "#/$defs/Token" }, { type: "null" }] },
    },
    required: ["text", "words", "tokens"],
    type: "object",
  },
  SiteDocument: {
    additionalProperties: false,
    properties: {
      kind: { enum: ["encoder", "decoder", "cross"], type: "string" },
      layer: { type: "integer" },
      is_uniform: { items: { type: "boolean" }, type: "array" },
      sums_to_one: { type: "boolean" },
      rows: { anyOf: [{ type: "string" }, { type: "null" }] },
      columns: { anyOf: [{ type: "string" }, { type: "null" }] },
      weights: {
        items: { items: { items: { type: "number" }, type: "array" }, type: "array" },
        type: "array",
      },
    },
    required: ["kind", "layer", "is_uniform", "sums_to_one", "weights"],
    type: "object",
  },
  SiteHeader: {
    additionalProperties: false,
    properties: {
      kind: { enum: ["encoder", "decoder", "cross"], type: "string" },
      layer: { type: "integer" },
      is_uniform: { items: { type: "boolean" }, type: "array" },
      sums_to_one: { type: "boolean" },
    },
    required: ["kind", "layer", "is_uniform", "sums_to_one"],
    type: "object",
  },
  Token: {
    additionalProperties: false,
    properties: {
      id: { type: "integer" },
      text: { type: "string" },
      start: { type: "integer" },
      end: { type: "integer" },
      word: { anyOf: [{ type: "integer" }, { type: "null" }] },
    },
    required: ["id", "text", "start", "end"],
    type: "object",
  },
  TraceDocument: {
    additionalProperties: false,
    properties: {
      format: { maximum: 2, minimum: 1, type: "integer" },
      source: { $ref: "#/$defs/Sentence" },
      target: { $ref: "#/$defs/Sentence" },
      sites: { items: { $ref: "#/$defs/SiteDocument" }, type: "array" },
      steps: { items: { $ref: "#/$defs/TracedStep" }, type: "array" },
      provenance: { $ref: "#/$defs/Provenance" },
      aligning: { anyOf: [{ type: "integer" }, { type: "null" }] },
      depths: {
        additionalProperties: { items: { type: "integer" }, type: "array" },
        type: "object",
      },
      does: { enum: ["translate", "write", "fill"], type: "string" },
      picture: { anyOf: [{ $ref: "#/$defs/PictureDocument" }, { type: "null" }] },
      crc32: { anyOf: [{ type: "integer" }, { type: "null" }] },
      positions: {
        anyOf: [
          { items: { items: { type: "number" }, type: "array" }, type: "array" },
          { type: "null" },
        ],
      },
    },
    required: ["format", "source", "target", "sites", "steps", "provenance", "aligning", "depths"],
    type: "object",
  },
  TraceHeader: {
    additionalProperties: false,
    properties: {
      format: { maximum: 2, minimum: 1, type: "integer" },
      source: { $ref: "#/$defs/Sentence" },
      target: { $ref: "#/$defs/Sentence" },
      sites: { items: { $ref: "#/$defs/SiteHeader" }, type: "array" },
      steps: { items: { $ref: "#/$defs/TracedStep" }, type: "array" },
      provenance: { $ref: "#/$defs/Provenance" },
      aligning: { anyOf: [{ type: "integer" }, { type: "null" }] },
      depths: {
        additionalProperties: { items: { type: "integer" }, type: "array" },
        type: "object",
      },
      does: { enum: ["translate", "write", "fill"], type: "string" },
      picture: { anyOf: [{ $ref: "#/$defs/PictureHeader" }, { type: "null" }] },
      crc32: { anyOf: [{ type: "integer" }, { type: "null" }] },
    },
    required: ["format", "source", "target", "sites", "steps", "provenance", "aligning", "depths"],
    type: "object",
  },
  TracedStep: {
    additionalProperties: false,
    properties: {
      log_probability: { type: "number" },
      alternatives: { items: { $ref: "#/$defs/Alternative" }, type: "array" },
    },
    required: ["log_probability", "alternatives"],
    type: "object",
  },
  Word: {
    additionalProperties: false,
    properties: { text: { type: "string" }, start: { type: "integer" }, end: { type: "integer" } },
    required: ["text", "start", "end"],
    type: "object",
  },
} as const satisfies Record<string, Schema>;
