// Everything the page says, in both languages; {name} is filled in.
import type { Language } from "./address";
import { savedPage } from "./inlined";
import { KINDS, type Trace } from "./trace";

export const WORDS = {
  look: ["Translate and look", "翻译与观察"],
  arithmetic: ["Arithmetic", "逐步计算"],
  switchboard: ["Switchboard", "开关台"],
  blocks: ["Blocks", "构件"],
  generate: ["Generate", "生成"],
  compare: ["Compare", "比较"],
  comma: [", ", "，"],
  views: ["Views", "视图"],
  skip: ["Skip to the content", "跳到正文"],
  toOther: ["中文", "English"],
  toOtherLong: ["中文界面", "Switch to English"],
  theme: ["Colours", "配色"],
  auto: ["auto", "自动"],
  light: ["light", "浅色"],
  dark: ["dark", "深色"],
  large: ["Projector size", "投影字号"],
  loading: ["Loading …", "正在载入……"],
  noModel: [
    "No model is being served, so this is a recorded sentence: every number is real. Type your own with",
    "当前没有运行模型，这里是一段录下来的例子，所有数字都是真实的。要输入自己的句子，请运行",
  ],
  recordedBlocks: [
    "No model is being served, so these numbers are recorded, for a few choices. Try any others with",
    "当前没有运行模型，这里是录下来的数字，只有几种选择。要任意尝试，请运行",
  ],
  fileHolds: [
    "This is what the file holds. To ask a model yourself, run",
    "这里是文件里的内容。要自己向模型提问，请运行",
  ],
  saveHtml: ["this page as one file that works offline", "把本页存成一个可离线打开的文件"],
  savedBy: [
    "by {name} ({recipe}), saved with Regard {version}",
    "模型 {name}（{recipe}），由 Regard {version} 保存",
  ],
  recorded: ["a recorded sentence", "录制的例子"],
  fromFile: ["from the file {name}", "来自文件 {name}"],
  fromModel: ["by {name}", "模型 {name}"],
  examples: ["Examples", "例子"],
  scrollHint: ["↔ Scroll within the picture to see all of it.", "↔ 在图内滑动即可看全。"],
  recordings: ["Recorded examples", "录制的例子"],
  ready: ["{name} is ready: type a text for it.", "{name} 已就绪：请输入文字。"],
  unknownWord: ["not in the model's vocabulary", "不在模型的词表中"],
  unknownWords: [
    "Not in the model's vocabulary, so it reads {n:this|these} as “unknown”: {words}",
    "不在模型的词表中，模型只当作未知词来读：{words}",
  ],
  "zh-en": ["Chinese → English", "汉语 → 英语"],
  "en-fr": ["English → French", "英语 → 法语"],
  source: ["Source", "原文"],
  sentenceIn: ["A sentence in {language}", "请输入{language}句子"],
  anySentence: ["A sentence to translate", "请输入要翻译的句子"],
  output: ["Output", "输出"],
  translate: ["Translate", "翻译"],
  translating: ["Translating …", "正在翻译……"],
  model: ["Model", "模型"],
  drop: ["Open a trace", "打开记录文件"],
  dropHint: ["or drop one anywhere on the page", "也可以把文件拖到页面上"],
  dropHere: ["Let go to open this trace or report", "松开鼠标即可打开"],
  notATrace: [
    "{name} is not a trace, or was cut short: save it again with Trace.save",
    "{name} 不是记录文件，或者不完整：请用 Trace.save 重新保存",
  ],
  tooNew: [
    "{name} was made by a newer Regard: upgrade this one",
    "{name} 由更新版本的 Regard 写成：请升级",
  ],
  noAttention: [
    "This model never looks back at words, so there is no attention to show: choose a model with attention.",
    "这个模型从不回看词语，没有注意力可显示：请选择带注意力的模型。",
  ],
  beam: ["The beam's translations", "束搜索的候选译文"],
  beamLead: [
    "Best score first: log P divided by a penalty that grows with length.",
    "按得分排列：log P 除以随长度增大的数。",
  ],
  beamChoose: [" Choose one to look at it.", "点选一个来观察。"],
  score: ["score", "得分"],
  empty: ["(nothing)", "（空）"],
  attention: ["Attention", "注意力"],
  encoder: ["Encoder", "编码器"],
  decoder: ["Decoder", "解码器"],
  cross: ["To the source", "看向原文"],
  encoderLong: ["Encoder self-attention", "编码器自注意力"],
  decoderLong: ["Decoder self-attention", "解码器自注意力"],
  crossLong: ["Attention to the source", "对原文的注意力"],
  layer: ["layer {n}", "第 {n} 层"],
  head: ["head {n}", "第 {n} 头"],
  meanOfThese: ["mean of heads {heads}", "第 {heads} 头的平均"],
  theseHeads: ["heads {heads}, a colour each", "第 {heads} 头，各用一种颜色"],
  allHeads: ["mean of {n} heads", "{n} 个头的平均"],
  oneHead: ["its only head", "唯一的头"],
  eachHead: ["all {n} heads, a colour each", "{n} 个头，各用一种颜色"],
  heads: ["Layers × heads", "层 × 头"],
  headsLead: [
    "Each picture is one head; rows are layers. Choose one, or all.",
    "每个小图是一个头，每行是一层。点选一个，或看全部的平均。",
  ],
  mean: ["mean of the layer", "本层平均"],
  form: ["Form", "形式"],
  alignment: ["Alignment", "对齐"],
  alignmentLong: ["Which source word each word looked at", "每个词看的是原文的哪个词"],
  alignmentLead: [
    "The layer that aligns best; </s> left out, rows sum to 100. The largest of a row is outlined.",
    "对齐得最好的一层；不计 </s>，每行之和为 100。每行最大的一格加了框。",
  ],
  steps: ["Steps", "步骤"],
  stepsLong: ["Step by step", "逐步写出"],
  stepsLead: [
    "What was written, what else could have been, and where the model looked most.",
    "每一步写了什么、还可能写什么、看得最多的是哪里。",
  ],
  lookedAtStep: ["looked at", "看向"],
  stepNumber: ["step {n}", "第 {n} 步"],
  overview: ["Overview", "总览"],
  overviewLong: ["Encoder and decoder", "编码器与解码器"],
  overviewLead: [
    "One layer of each, the mean of its heads; lines as thick as the attention.",
    "各取一层，各头平均；线越粗，注意力越大。",
  ],
  placesForm: ["Positions", "位置"],
  positionsLong: ["What is added for each place", "每个位置加上的向量"],
  pictures: ["Picture", "图片"],
  picturesLong: ["Where it looked for each word", "写每个词时看的是哪里"],
  picturesLead: [
    "The brighter, the more attention; full brightness is the largest weight of that word.",
    "越亮，注意力越大；最亮处是这个词最大的权重。",
  ],
  thePicture: ["the picture", "原图"],
  aPicture: ["a picture", "一张图片"],
  drawnPicture: ["the picture of seed {seed}", "种子 {seed} 画出的图片"],
  drawnPictureOf: [
    "the picture of seed {seed} of class {label}",
    "种子 {seed} 画出的图片，类别 {label}",
  ],
  openPicture: ["Open a picture", "打开图片"],
  readyPicture: [
    "{name} is ready: open a picture, or drop one anywhere on the page.",
    "{name} 已就绪：请打开一张图片，或把图片拖到页面上。",
  ],
  noReader: [
    "{name} is a picture, and no model that reads pictures is served: start one with regard serve",
    "{name} 是图片，但没有运行能读图片的模型：请用 regard serve 运行一个",
  ],
  anySeed: ["A seed, and a class if you like: 3 sneaker", "一个种子数，后面可加类别：3 sneaker"],
  draw: ["Draw", "画一张"],
  toPicture: ["To the picture", "看向图片"],
  lookPicture: ["Look", "观察"],
  gazes: ["Path", "路径"],
  gazesLong: ["Where it looked, glimpse by glimpse", "依次看了哪里"],
  gazesLead: [
    "Numbers are glimpses in their order, boxes what the last of them saw; outside of the picture is black.",
    "数字是注视的先后，方框是最近一次看到的范围；图外为黑色。",
  ],
  glimpse: ["glimpse", "第几次"],
  seen: ["seen", "看到的"],
  believed: ["believed then", "此时的判断"],
  beliefs: ["Believed", "逐次判断"],
  placesLong: ["Where the generator looked", "生成器看向哪里"],
  placesLead: [
    "Click a place of the picture, or use the arrow keys: the brighter, the more it counted there.",
    "点图中一处，或用方向键移动：越亮，画这一处时看得越多。",
  ],
  placeLead: [
    "The brighter, the more it counted for the marked place.",
    "越亮，画标出的那一处时看得越多。",
  ],
  lookedFrom: ["where place {place} looked", "位置 {place} 看向哪里"],
  placeSaid: [
    "To draw {place} (row, column from 0) it looked most at {most}: {share}",
    "画 {place}（行,列，从 0 数起）时看得最多的是 {most}：{share}",
  ],
  passages: ["Passages", "段落"],
  passagesLong: ["Which passages were looked at", "看了哪些段落"],
  passagesLead: [
    "The strip is the whole document: the darker, the more weight. Click into it, or on a passage, to read there; choose a word of the output to see where it looked.",
    "长条是整篇文档：颜色越深，权重越大。点长条或右边的段落，就读到那里；点输出中的一个词，看它看了哪里。",
  ],
  stripSaid: ["Place in the document", "文档中的位置"],
  layers: ["Layers", "层"],
  headsAlone: ["Heads", "头"],
  allWords: ["all words", "所有词"],
  matrix: ["Matrix", "矩阵"],
  lines: ["Lines", "连线"],
  merge: ["Merge tokens into words", "把词元合并成词"],
  hide: ["Hide <s> and </s>", "隐藏 <s> 与 </s>"],
  rows: ["Name rows by", "行名用"],
  predicting: ["word predicted", "预测的词"],
  reading: ["word read", "读入的词"],
  rowsSaid: [
    "A row is one step of the decoder: it has read a word, whose query it is, and predicts the next.",
    "一行是解码器的一步：刚读入一个词（查询由它算出），接着预测下一个。",
  ],
  readThenPredicted: ["read → predicted", "读入 → 预测"],
  lookingFrom: ["looking from", "由此看出"],
  looksAt: ["looks at", "看向"],
  cellSaid: ["{row} looks at {column}: {value}", "{row} 看 {column}：{value}"],
  cellPredicting: [
    "Predicting “{row}”, it looks at {column}: {value}",
    "预测“{row}”时看 {column}：{value}",
  ],
  cellReading: [
    "Having read “{row}”, it looks at {column}: {value}",
    "读入“{row}”后看 {column}：{value}",
  ],
  cellOfMean: [
    " (mean of {n} heads; {how} opens head {head}, which looks most: {value})",
    "（{n} 个头的平均；{how}打开其中看得最多的第 {head} 头：{value}）",
  ],
  cellOfWords: [
    " (whole words; {how} opens their strongest pair of tokens: {value})",
    "（整词；{how}打开其中最强的一对词元：{value}）",
  ],
  aClick: ["a click", "单击"],
  aTap: ["another tap", "再点一次"],
  cellMasked: [
    "{row} may not look at {column}: the cell is masked.",
    "{row} 不能看 {column}：这个格子被掩码遮住。",
  ],
  masked: ["masked: not visible", "被掩码遮住"],
  scaleSaid: ["Colours from {low} to {high}", "颜色从 {low} 到 {high}"],
  zoom: ["Zoom", "缩放"],
  zoomIn: ["Zoom in", "放大"],
  zoomOut: ["Zoom out", "缩小"],
  zoomReset: ["Zoom {n} %: back to 100 %", "缩放 {n} %：恢复 100 %"],
  zoomHint: [
    "Keys + − 0, Ctrl and the wheel, or two fingers",
    "按 + − 0 键、Ctrl 加滚轮，或双指缩放",
  ],
  cellHint: [
    "Click a cell, or press Enter, to see its arithmetic. Arrow keys move.",
    "单击格子或按回车看它的计算；方向键移动。",
  ],
  cellHintTouch: [
    "Tap a cell to read it; tap it again to see its arithmetic.",
    "点一下格子读数；再点一次看它的计算。",
  ],
  readHint: ["Point at a cell, or press an arrow key.", "指向格子或按方向键。"],
  readHintTouch: ["Tap a cell to read it.", "点一下格子读数。"],
  headSaid: [
    "layer {layer}, head {head}: most from {row} to {column}, {value}",
    "第 {layer} 层第 {head} 头：最强的是 {row} 看 {column}，{value}",
  ],
  headHint: ["Point at a head to read it; click to choose it.", "指向一个头读数；单击选中。"],
  headHintTouch: [
    "Tap a head to read it; tap it again to choose it.",
    "点一下读数；再点一次选中。",
  ],
  uniform: ["almost the same weight everywhere", "各处权重几乎相同"],
  step: ["How sure the model was", "模型有多大把握"],
  stepLead: ["Most probable tokens at “{token}”", "在“{token}”处最可能的词元"],
  total: ["log P = {value} over {n} {n:step|steps}", "log P = {value}，共 {n} 步"],
  save: ["Save", "保存"],
  trace: ["trace", "记录"],
  preset: ["The lectures' example", "课件中的例子"],
  thisCell: ["This cell", "这个格子"],
  cell: ["Cell", "格子"],
  query: ["query", "查询"],
  key: ["key", "键"],
  arithmeticLead: [
    "Where one weight comes from, with the real numbers of the head. Keys ← and → step through it.",
    "一个权重是怎样算出来的：这个头的真实数字。用 ← 和 → 键逐步演示。",
  ],
  lectureLead: [
    "Two words, one head, d = 64: the scores 112 and 96 of the lectures.",
    "两个词、一个头、d = 64：课件中的得分 112 与 96。",
  ],
  step1: ["A query and a key", "一个查询和一个键"],
  step1Said: [
    "“{row}” asks with its query; “{column}” answers with its key.",
    "“{row}”用查询提问，“{column}”用键回答。",
  ],
  step1Predicting: [
    "The decoder has read “{row}” and is about to predict “{predicted}”. It asks with the query of “{row}”; “{column}” answers with its key.",
    "解码器刚读入“{row}”，将要预测“{predicted}”。它用“{row}”的查询提问，“{column}”用键回答。",
  ],
  step2: ["Multiply, number by number", "逐个相乘"],
  step2Said: [
    "Where both are large and of one sign, they agree.",
    "两者都大且同号的地方，就是它们相合的地方。",
  ],
  step3: ["Add the products", "把乘积相加"],
  step3Said: [
    "One number says how well the key answers the query.",
    "一个数说明这个键有多符合这个查询。",
  ],
  step4: ["Divide by √d", "除以 √d"],
  step4Said: [
    "Wide vectors give large sums; dividing by √{d} = {root} keeps the softmax from hardening.",
    "向量越宽，和越大；除以 √{d} = {root}，softmax 才不会过于尖锐。",
  ],
  step5: ["Softmax over the row", "对整行做 softmax"],
  step5Said: [
    "All keys compete; the weights of a row sum to 1.",
    "所有的键互相竞争，一行的权重之和为 1。",
  ],
  step6: ["Weighted sum of the values", "值的加权和"],
  step6Said: [
    "What “{row}” takes along: each value times its weight.",
    "“{row}”带走的内容：每个值乘以它的权重。",
  ],
  step6Predicting: [
    "What “{row}” takes along to predict “{predicted}”: each value times its weight.",
    "“{row}”为预测“{predicted}”带走的内容：每个值乘以它的权重。",
  ],
  oneOfHeads: [
    "This is the arithmetic of head {head} alone, whose weight is {value}. The mean of all {n} heads is {mean}.",
    "这里只是第 {head} 头的计算，它的权重是 {value}；{n} 个头的平均是 {mean}。",
  ],
  oneOfTokens: [
    "It is one pair of tokens of “{row}” × “{column}”. As whole words (columns added up, rows averaged) that is {value} in this head, {mean} in the mean of all.",
    "它是“{row}”×“{column}”中的一对词元。按整词（各列相加，各行取平均）在本头中是 {value}，所有头的平均是 {mean}。",
  ],
  headWeights: ["Head and weight", "头与权重"],
  otherScore: [
    "This head scores by {formula}, which is not a sum of products.",
    "这个头的打分方式是 {formula}，不是乘积之和。",
  ],
  needsModel: [
    "The trace in this file holds weights but not the vectors behind them: serve the model to see the arithmetic.",
    "这个文件只有权重，没有背后的向量：请运行模型来看计算过程。",
  ],
  previous: ["Previous", "上一步"],
  next: ["Next", "下一步"],
  ofSteps: ["step {n} of {total}", "第 {n} 步，共 {total} 步"],
  switchLead: [
    "Click heads to switch them off, and see what the model then writes.",
    "点击某些头把它们关掉，看模型会写出什么。",
  ],
  cannedSwitch: [
    "Recorded: one head at a time. With a served model, any number of heads.",
    "录制的例子一次只能关一个头；运行模型后可以任意组合。",
  ],
  savedSwitch: [
    "This file holds what came of switching off the heads that can be clicked. For any others, serve the model:",
    "这个文件只有可点的头关掉之后的结果。要关其他的头，请运行模型：",
  ],
  cannedSwitchServed: [
    "Recorded: one head at a time. To switch off any number of heads of a served model, first type a sentence in",
    "录制的例子一次只能关一个头。要任意组合，请先为运行中的模型输入一个句子：",
  ],
  fileSwitchServed: [
    "A file cannot translate again. To switch heads of a served model off, first type a sentence in",
    "文件无法重新翻译。要关闭注意力头，请先为运行中的模型输入一个句子：",
  ],
  fileSwitch: [
    "A file cannot translate again: serve the model to switch heads off.",
    "文件无法重新翻译：请运行模型后再关闭注意力头。",
  ],
  before: ["All heads on", "全部开启"],
  after: ["With {n} off", "关闭 {n} 个之后"],
  same: ["the same output", "输出不变"],
  changed: ["another output", "输出改变了"],
  change: ["Change in log P of the first output: {value}", "原输出 log P 的变化：{value}"],
  changesLead: [
    "Token by token: to the left it became less probable.",
    "逐个词元：向左表示概率变小。",
  ],
  moved: ["Where it looks then", "此后看向哪里"],
  movedLead: [
    "The output above, read once more with these heads off. A head that is off looks as before and brings nothing back; what changes are the layers after it, and only these are shown.",
    "关掉这些头之后，再读一遍上面原来的输出。被关掉的头照样看，但什么也带不回来；改变的是它之后的层，这里只显示这些层。",
  ],
  lookedBefore: ["Before", "之前"],
  lookedAfter: ["After", "之后"],
  lookedChange: ["After − before", "之后 − 之前"],
  changeSaid: [
    "{row} looks at {column}: {before} before, {after} after, {value}",
    "{row} 看 {column}：之前 {before}，之后 {after}，变化 {value}",
  ],
  nothingMoved: [
    "No attention changed by 0.0005 or more: nothing looks at what these heads bring back.",
    "没有任何注意力的变化达到 0.0005：此后没有哪一层看得到这些头带回的内容。",
  ],
  noTraceAfter: [
    "What is shown here holds the attention with all heads on. To see where the others look once heads are off, serve the model:",
    "这里只有全部头开启时的注意力。要看关掉某些头之后其他头看向哪里，请运行模型：",
  ],
  allOn: ["Switch all on", "全部打开"],
  switchedOff: ["Switched off: {heads}", "关闭：{heads}"],
  headsIn: ["{site}, layer {layer}, heads {heads}", "{site}，第 {layer} 层，第 {heads} 头"],
  and: [", ", "、"],
  semicolon: ["; ", "；"],
  colon: [": ", "："],
  nothingOff: ["No head is off.", "没有关闭任何头。"],
  noSuchHead: [
    "The model has no such head, so it is passed over: {heads}.",
    "模型没有这样的头，已略过：{heads}。",
  ],
  headOf: ["{site}, layer {layer}, head {head}", "{site}，第 {layer} 层，第 {head} 头"],
  positions: ["Positions", "位置编码"],
  masks: ["Masks", "掩码"],
  norms: ["Residual and norm", "残差与归一化"],
  scores: ["Eight scores", "八种打分"],
  positionsLead: [
    "Attention alone sees a bag of words. So each place gets a vector of its own, which is added to the word's.",
    "注意力本身只看到一袋词，所以给每个位置一个向量，加到词向量上。",
  ],
  places: ["places", "位置数"],
  width: ["width d", "宽度 d"],
  place: ["place", "位置"],
  dimension: ["dimension", "维"],
  encodingSaid: [
    "Blue is positive, red negative; the stronger, the nearer to ±1.",
    "蓝色为正，红色为负；颜色越浓，越接近 ±1。",
  ],
  encodingCell: ["place {row}, dimension {column}: {value}", "位置 {row}，第 {column} 维：{value}"],
  alikeCell: ["places {row} and {column}: {value}", "位置 {row} 与 {column}：{value}"],
  entrySaid: ["{row}, {column}: {value}", "{row}，{column}：{value}"],
  alike: [
    "Near places are alike: the product of two places depends only on how far apart they are.",
    "相近的位置相似：两个位置的内积只取决于距离。",
  ],
  masksLead: [
    "Where a mask says no, the score becomes −∞ before the softmax and the weight 0 after it.",
    "掩码不允许之处，softmax 之前得分变为 −∞，之后权重为 0。",
  ],
  causal: ["causal", "因果"],
  causalSaid: ["no word sees a later one", "不能看后面的词"],
  padding: ["padding", "填充"],
  paddingSaid: ["the last two are filling", "最后两个是填充"],
  window: ["window", "窗口"],
  windowSaid: ["one place to each side", "左右各一个位置"],
  where: ["where", "当"],
  mask: ["mask", "掩码"],
  weights: ["weights", "权重"],
  normsLead: [
    "Batch norm compares a feature across the examples of a batch; layer norm the features of one example. Change a number and watch what moves.",
    "批归一化把一个特征在一批例子之间比较；层归一化只看一个例子自己的特征。改一个数，看哪些会变。",
  ],
  batchNorm: ["Batch norm: along each row", "批归一化：沿每一行"],
  layerNorm: ["Layer norm: down each column", "层归一化：沿每一列"],
  feature: ["feature {n}", "特征 {n}"],
  example: ["example {n}", "例子 {n}"],
  table: ["The table x", "表格 x"],
  residual: ["Residual, then norm", "先残差，后归一化"],
  residualSaid: [
    "F(x) = max(0, x − 2) on example 0. Where F is 0, x passes through untouched.",
    "对例子 0 取 F(x) = max(0, x − 2)。F 为 0 处，x 原样通过。",
  ],
  scoresLead: [
    "One query and the same keys through every score of the lectures' table; parameters are random, as before training.",
    "同一个查询和同样的键，用课件表中的八种方式打分；参数是随机的，如同训练之前。",
  ],
  dot: ["dot", "点积"],
  "scaled-dot": ["scaled dot", "缩放点积"],
  additive: ["additive", "加性"],
  general: ["general", "一般"],
  concatenating: ["concatenating", "拼接"],
  perceptron: ["perceptron", "感知机"],
  content: ["content-based", "基于内容"],
  location: ["location-based", "基于位置"],
  seed: ["seed", "随机种子"],
  anotherTable: ["Another table", "换一张表"],
  another: ["Another draw", "再采样一次"],
  keys: ["keys", "键"],
  formula: ["formula", "公式"],
  report: ["Report", "报告"],
  lesson: ["Step by step", "逐步讲解"],
  training: ["Training", "训练"],
  runs: ["Runs", "训练过程"],
  runsLead: ["Choose one, or several to see over each other.", "选择一个，或选多个叠在一起比较。"],
  run: ["Run", "训练"],
  update: ["Update", "更新"],
  noRuns: [
    "No run is being served, so these are two recorded ones: the phrasebook from Chinese to English, once with a learning rate of 0.004 and once with 0.0005. Watch your own, also while it trains, with",
    "当前没有训练过程，这里是两段录下来的真实训练：汉译英的常用语，学习率分别为 0.004 与 0.0005。要看自己的训练（训练中也可以），请运行",
  ],
  preparing: ["preparing", "准备中"],
  quiet: ["no news", "暂无消息"],
  finished: ["finished", "已完成"],
  stopped: ["stopped", "已停止"],
  isTraining: ["training", "训练中"],
  updatesOf: ["update {n} of {total}", "第 {n} 次更新，共 {total} 次"],
  updatesDone: ["update {n}", "第 {n} 次更新"],
  time: ["Time", "时间"],
  timeOf: ["{time} of {whole}", "{time}，预算 {whole}"],
  timeLeft: ["about {time} left", "约剩 {time}"],
  curves: ["Curves", "曲线"],
  curvesLead: [
    "Lines are the training; dots are measured on held-out data. Point at a place, or move with ← and →.",
    "线是训练，圆点在留出数据上测得。把指针移到某处，或用 ← → 键移动。",
  ],
  across: ["Across", "横轴"],
  inUpdates: ["updates", "更新次数"],
  inMinutes: ["minutes", "分钟"],
  smoothing: ["Smoothing, %", "平滑 %"],
  lossTitle: ["Loss per token", "每词元损失"],
  lossTrain: ["Loss", "损失"],
  lossValid: ["Validation loss", "验证损失"],
  measure_bleu: ["Validation: BLEU", "验证：BLEU"],
  measure_chrf: ["Validation: chrF", "验证：chrF"],
  measure_bits_per_character: ["Validation: bits per character", "验证：每字符比特数"],
  measure_perplexity: ["Validation: perplexity", "验证：困惑度"],
  rateTitle: ["Learning rate", "学习率"],
  speedTitle: ["Tokens a second", "每秒词元数"],
  moments: ["The heads while they learn", "注意力头的学习过程"],
  momentsLead: [
    "The same sentence through the weights of one update after another. All of them read what the run writes in the end, so the pictures compare.",
    "同一个句子依次通过各次更新时的权重。它们读的都是训练结束时的输出，因此各图可以比较。",
  ],
  noMoments: [
    "This run has kept no weights yet. Checkpoints will be shown as they come; to keep those of chosen updates for good, train with",
    "这次训练还没有保存权重，有检查点后会显示在这里。要永久保留某些更新时的权重，训练时加上",
  ],
  oneMoment: [
    "This run has kept the weights of one moment only, so there is nothing to compare with. To see heads learn, train with",
    "这次训练只保留了一个时刻的权重，无从比较。要看注意力头怎样学习，训练时加上",
  ],
  lookBack: ["Look back", "回看"],
  lookingBack: ["Looking back …", "正在回看……"],
  afterUpdate: ["After update", "更新之后"],
  inUse: ["the best", "最佳"],
  wroteThen: ["It wrote then", "当时的输出"],
  play: ["▶ Play", "▶ 播放"],
  pause: ["❚❚ Pause", "❚❚ 暂停"],
  momentHint: ["Arrow keys move through the matrix.", "方向键在矩阵中移动。"],
  // The service says why in English; by its code the page says the same before it.
  "refused_too-long": ["{said}", "文字太长，请缩短或分成几段。（{said}）"],
  "refused_too-many": ["{said}", "一次给的句子太多，请分几次。（{said}）"],
  "refused_too-large": ["{said}", "请求太大，请少给一些文字。（{said}）"],
  "refused_too-slow": ["{said}", "等待太久，没有得到结果：请少给一些文字，或稍后再试。（{said}）"],
  refused_busy: ["{said}", "服务正忙，请稍后再试。（{said}）"],
  refused_unreachable: [
    "The service does not answer: see whether regard serve is still running, and ask again.",
    "服务没有回应：请确认 regard serve 仍在运行，然后再试。",
  ],
  refused_stopping: ["{said}", "服务正在停止。（{said}）"],
  refused_empty: ["{said}", "文字是空的，没有可看的内容。（{said}）"],
  refused_key: ["{said}", "需要正确的 API 密钥。（{said}）"],
  "refused_no-such-model": ["{said}", "没有这样的模型，请另选一个。（{said}）"],
  "refused_no-such-run": ["{said}", "没有这样的训练过程，请另选一个。（{said}）"],
  keyTitle: ["API key", "API 密钥"],
  keyLead: [
    "This service answers only who has its key. It is kept until this tab is closed, and sent to this service alone.",
    "该服务需要密钥。密钥只保存到关闭此标签页为止，且只发送给本服务。",
  ],
  keyWrong: ["The service does not know this key.", "服务不认识这个密钥。"],
  keyGive: ["Go on", "继续"],
  keyWithout: ["Without a key", "不用密钥"],
  generateLead: [
    "A GPT writes on, word by word; a BERT finds words that were taken out. Point at a word: the stronger another's colour, the more it was looked at.",
    "GPT 逐词续写；BERT 找回被遮住的词。指向一个词：其他词的颜色越浓，它看得越多。",
  ],
  noWriter: [
    "No language model is being served, so these are recorded texts of small models: every number is real. Write your own with",
    "当前没有运行语言模型，这里是小模型录下来的文字，所有数字都是真实的。要自己写，请运行",
  ],
  "story-en": ["A story", "英语故事"],
  "story-zh": ["A story in Chinese", "故事"],
  "gaps-en": ["Gaps", "英语填空"],
  "gaps-zh": ["Gaps in Chinese", "填空"],
  prompt: ["How the story begins", "故事的开头"],
  gapped: ["A text with gaps", "带空缺的句子"],
  usualPrompt: ["As aliens entered our planet", "这只动物没有过马路"],
  usualGaps: [
    "The animal didn't cross the street because it was too [MASK].",
    "这只动物没有过马路，因为它太[MASK]了。",
  ],
  write: ["Write", "续写"],
  writing: ["Writing …", "正在写……"],
  stop: ["Stop", "停止"],
  fill: ["Fill the gaps", "填空"],
  temperature: ["temperature", "温度"],
  storyLength: ["tokens", "词元数"],
  nWords: ["words for each gap", "每处候选词数"],
  endedAtOnce: [
    "The model ended the text at once: take another draw, or another beginning.",
    "模型立刻结束了这段文字：请再采样一次，或换一个开头。",
  ],
  fullHere: [
    "It stops here, after {n} of {most} tokens: the beginning and the story fill all that the model can see together.",
    "写到第 {n} 个词元为止（要求 {most} 个）：开头与故事已占满模型能同时看到的长度。",
  ],
  story: ["The story", "故事"],
  storyLead: [
    "Grey words were given. The underlined ones surprised the model itself.",
    "灰色的词是给定的；带下划线的词连模型自己也觉得意外。",
  ],
  gapsLead: ["Every word sees all others, before and after it.", "每个词都能看到前后所有的词。"],
  writtenFrom: ["when it was written", "写它的时候"],
  whenRead: ["when it is read", "读它的时候"],
  storyHint: ["Point at a word, or press an arrow key.", "指向一个词，或按方向键。"],
  weighted: ["“{word}” {weight}", "「{word}」{weight}"],
  wordSaid: ["“{word}” looked at {looked}", "“{word}”看向{looked}"],
  lookedAt: ["What “{word}” looked at", "“{word}”看向哪里"],
  lookedLead: ["The weights of a word sum to 1.", "一个词的权重之和为 1。"],
  odds: ["What could have stood for “{word}”", "“{word}”处还可能是"],
  oddsLead: ["log P = {value} of what was written", "所写的词 log P = {value}"],
  odd: ["How probable it was:", "概率："],
  recordedStory: ["a recorded text of a small model", "小模型的录制文字"],
  fits: ["What fits into the gaps", "空缺处的候选词"],
  fitsLead: ["The most probable words, each gap by itself.", "最可能的词，每处空缺各自计算。"],
  noGaps: ["There is no {mask} in this text.", "这段文字里没有 {mask}。"],
  compareLead: [
    "Two sentences through one model, or one sentence through two models: the same head on the same scale. A word that you point at stands out on both sides.",
    "两个句子通过同一个模型，或一个句子通过两个模型：同一个头、同一种比例。指向一个词，两边都会标出。",
  ],
  noPair: [
    "No model is being served, so these are recorded pairs: every number is real. Compare your own with",
    "当前没有运行模型，这里是录下来的例子，所有数字都是真实的。要比较自己的句子，请运行",
  ],
  "zh-wide": ["它: tired or wide?", "“它”：累了还是宽？"],
  "fr-wide": ["it: tired or wide?", "it：累了还是宽？"],
  "fr-models": ["Transformer and Bahdanau", "Transformer 与 Bahdanau"],
  noSuchModel: [
    "There is no model “{name}” here: choose one of {names}.",
    "没有名为“{name}”的模型，请从中选择：{names}。",
  ],
  dropTwo: ["or drop one on either side", "也可以拖到页面的左边或右边"],
  left: ["Left", "左边"],
  right: ["Right", "右边"],
  compareNow: ["Compare", "比较"],
  comparing: ["Comparing …", "正在比较……"],
  sameSentence: ["The same sentence on both sides", "两边用同一个句子"],
  headsBoth: [
    "Rows are layers. A head that you choose is chosen on both sides.",
    "每行是一层。选中的头在两边同时选中。",
  ],
  noSuchSite: ["This model never looks in this way.", "这个模型没有这种注意力。"],
  compareHint: [
    "Point at a cell, or press an arrow key: its partner stands out on the other side.",
    "指向格子或按方向键：另一边的对应格子也会标出。",
  ],
  difference: ["Right minus left", "右边减左边"],
  differenceLead: [
    "Blue: the right side looks there more; red: the left side does. The numbers are percentage points.",
    "蓝色：右边看得更多；红色：左边看得更多。格中数字的单位是百分点。",
  ],
  differenceSaid: [
    "{row} looks at {column}: {left} on the left, {right} on the right, {value}",
    "{row} 看 {column}：左 {left}，右 {right}，差 {value}",
  ],
  leftOut: [
    "{n} {n:word|words} without a partner on the other side {n:is|are} left out.",
    "有 {n} 个词在另一边没有对应，未列出。",
  ],
  tokens: ["How sure each was, token by token", "逐个词元的把握"],
  tokensLead: [
    "A bar is the probability of the token that was written; the number is its logarithm.",
    "条形是所写词元的概率，数字是它的对数。",
  ],
  totals: [
    "log P: {left} on the left, {right} on the right, difference {value}",
    "log P：左 {left}，右 {right}，相差 {value}",
  ],
} as const satisfies Record<string, readonly [string, string]>;

export type Word = keyof typeof WORDS;

/** `{n}` is filled in; `{n:word|words}` is the first where n is 1, the second elsewhere. */
export function say(
  language: Language,
  word: Word,
  places: Record<string, string | number> = {},
): string {
  const text: string = WORDS[word][language === "en" ? 0 : 1];
  return text.replace(/\{(\w+)(?::(\w+)\|(\w+))?\}/g, (whole, name: string, one, many) => {
    const value = places[name] ?? whole;
    return String(one === undefined ? value : value === 1 ? one : many);
  });
}

export type Say = (word: Word, places?: Record<string, string | number>) => string;

/** Heads by their names, as in cross.1.0: a text for each layer. */
export function sayNames(say: Say, names: readonly string[]): string[] {
  const layers = new Map<string, number[]>();
  for (const name of names) {
    const at = name.lastIndexOf(".");
    const layer = name.slice(0, at);
    layers.set(layer, [...(layers.get(layer) ?? []), Number(name.slice(at + 1))]);
  }
  return KINDS.flatMap((kind) => {
    const found = [...layers].filter(([where]) => where.startsWith(kind)).sort();
    return found.map(([where, heads]) => {
      const places = { site: say(`${kind}Long`), layer: where.slice(kind.length + 1) };
      const [first = 0] = heads.sort((a, b) => a - b);
      return heads.length === 1
        ? say("headOf", { ...places, head: first })
        : say("headsIn", { ...places, heads: heads.join(say("and")) });
    });
  });
}

/** Which heads a picture shows: one of them, or null for all. */
export function sayHeads(say: Say, head: number | null, nHeads: number, isLines = false): string {
  if (head !== null) return say("head", { n: head });
  if (nHeads === 1) return say("oneHead");
  return say(isLines ? "eachHead" : "allHeads", { n: nHeads });
}

/** Where a trace comes from that was neither asked for nor opened here: a saved or recorded one. */
export function sayOrigin(say: Say, { provenance }: Trace): string {
  if (savedPage() === null) return say("recorded");
  const { model, recipe, version } = provenance;
  return say("savedBy", { name: model, recipe, version });
}
