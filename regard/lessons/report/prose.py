"""The sentences of the page, each in English and in Chinese."""

from html import escape

from regard.lessons.antecedents import Reading

SPLITS = {
    "test": ("new sentences", "新句子"),
    "combinations": ("new combinations", "新组合"),
}

LANGUAGES = {
    "en": ("English", "英文"),
    "fr": ("French", "法文"),
    "zh": ("Chinese", "中文"),
}

# Whose row of attention is read.
ROWS = {
    "pronoun": ("from the pronoun", "从代词出发"),
    "adjective": ("from the adjective", "从形容词出发"),
    "translation": ("while the pronoun is written", "写出代词时"),
}

# Values are put in with str.format, escaped. The markup here is the page's own.
PROSE: dict[str, tuple[str, str]] = {
    "title": ("A translator, {pair}", "一个翻译模型：{pair}"),
    "lead": (
        "A Transformer trained on <code>{corpus}</code>, measured on {n} sentences that it "
        "never saw, and opened up.",
        "一个用 <code>{corpus}</code> 训练的 Transformer，在它从未见过的 {n} 个句子上评测，并"
        "打开来看。",
    ),
    "bleu": ("BLEU", "BLEU"),
    "exact": ("exactly right", "完全正确"),
    "minutes": ("training time (min:s)", "训练用时（分:秒）"),
    "parameters": ("parameters", "参数"),
    "pronouns": ("il / elle right", "il / elle 正确"),
    "scores": ("How good it is", "有多好"),
    "scores-read": (
        "All of these sentences were held out of training; new combinations are words that "
        "are common in training, in constructions where it never showed them. BLEU counts "
        "the short word sequences shared with the truth, from 0 to 100; an output is exactly "
        "right if it equals the truth, sign by sign. The corpus is small and regular: high "
        "numbers here say that the model learned it, not that it can translate a newspaper.",
        "这些句子都没有参加训练；“新组合”是训练里常见的词用在从未与之一起出现过的句式里。"
        "BLEU 统计与标准答案共有的短词串，从 0 到 100；“完全正确”指与标准答案一字不差。这个语"
        "料小而规则：分数高说明模型学会了它，并不说明它能翻译报纸。",
    ),
    "split": ("held out", "留出的数据"),
    "n": ("sentences", "句数"),
    "pronouns-read": (
        "French must choose between <i>il</i> and <i>elle</i> by the noun that the pronoun "
        "stands for. In {n} test sentences its two nouns differ in gender, so that only the "
        "meaning decides: {accuracy} % have the right one ({each}); always writing the more "
        "frequent one would give {guessing} %.",
        "译成法语时，要看代词指的是哪个名词，才能在 <i>il</i> 与 <i>elle</i> 之间选择。测试集"
        "里有 {n} 个句子的两个名词性别不同，只能由意思决定：{accuracy} % 选对了（{each}）；"
        "总写更常见的那个只能对 {guessing} %。",
    ),
    "only": (
        "It knows the words and constructions of this corpus, and nothing else. To get a model "
        "that knows more, train one on your own pairs; the command stands at the end.",
        "它只认识这个语料里的词和句式，此外一无所知。要得到懂得更多的模型，请用自己的句对训练；"
        "命令在页末。",
    ),
    "undertrained": (
        "Undertrained: it learned for {updates} of {planned} updates. The page shows how the "
        "demo works, not what the model can do.",
        "训练不足：只更新了 {updates} 次，应为 {planned} 次。这一页只说明演示怎样运行，不代表模"
        "型的能力。",
    ),
    "sentences": ("Side by side", "逐句对照"),
    "sentences-read": (
        "The lectures’ sentences where the corpus has them, then the first test sentence of "
        "each construction: not the best ones. ✓ means exactly right.",
        "先是讲义里的句子（如果语料里有），然后是测试集中每种句式的第一句，没有挑选。✓ 表示完"
        "全正确。",
    ),
    "truth": ("truth", "答案"),
    "alignment": ("Which word came from where", "每个词从哪里来"),
    "alignment-read": (
        "Each row is a word of the translation, each column a word of the source. The darker "
        "a cell, the more the decoder looked at that source word while writing this one; a "
        "row sums to 100.",
        "每一行是译文的一个词，每一列是原文的一个词。格子越深，说明写这个词时解码器看那个原文"
        "词越多；每行之和为 100。",
    ),
    "key-true": (
        "the corpus knows that these two words belong together; the model was never told",
        "语料知道这两个词相对应；模型从未被告知",
    ),
    "alignment-how": (
        "Encoder-decoder attention of decoder layer {layer} (counted from 0), mean over its "
        "heads; tokens merged into words, the end of the sentence left out.",
        "解码器第 {layer} 层（从 0 数起）对原文的注意力，各头取平均；子词合并成词，不计句末符号。",
    ),
    "it": ("What {words} looks at", "{words}在看什么"),
    "it-written": ("What it looks at to write {words}", "写出{words}时在看什么"),
    "it-read": (
        "The two sentences differ in one word at the end. That word decides what the pronoun "
        "stands for: the animal is tired, the street is wide. Lines go to the words of the "
        "source that are looked at, as thick as the attention; the noun that the pronoun stands "
        "for has a frame.",
        "两个句子只差最后一个词，而正是它决定代词指什么：累的是动物，宽的是马路。线连到所看的"
        "原文词，越粗表示注意力越大；代词真正指的名词加了框。",
    ),
    "it-needed": (
        "In this pair of languages the model cannot choose the right word without knowing "
        "what the pronoun stands for, so somewhere it has to find out.",
        "在这一对语言里，不知道代词指什么就选不对译词，所以模型必须在某处弄清楚。",
    ),
    "it-free": (
        "In this pair of languages the pronoun is translated alike whatever it stands for: "
        "nothing makes the model find out, and attention that does not is no failure. <code>"
        "regard demo --pair en-fr</code> trains a model that has to.",
        "在这一对语言里，代词无论指什么，译法都一样：没有什么迫使模型去弄清楚，注意力找不到也"
        "不算失败。<code>regard demo --pair en-fr</code> 训练一个必须弄清楚的模型。",
    ),
    "it-token": (
        "The tokenizer made one token of “{token}”: “{word}” looks as a part of it.",
        "分词器把“{token}”当作一个词元：“{word}”是作为它的一部分在看。",
    ),
    "it-place": ("{place}, {row}", "{place}，{row}"),
    "it-how": (
        "Of all heads, means of layers and rollouts this one best told the noun from its rival "
        "on {n} validation sentences, where the noun gets more in {valid} % (subjects and "
        "objects counting alike). On {n_test} test sentences, which had no say in the choice, "
        "it is <b>{test} %</b>: on average {weight} of the attention goes to the noun, {other} "
        "to its rival. The control is the same network with random weights: its best reading, "
        "chosen in the same way, is right in {control} %; chance is 50 %. Attention shows where "
        "information is taken from; it does not prove that this is what decided.",
        "在所有头、各层平均和 rollout 中，它在 {n} 个验证句上最能区分所指的名词与另一个名词，"
        "在 {valid} % 的句子里前者权重更大（主语与宾语同等计算）。在没有参与选择的 {n_test} 个"
        "测试句上是 <b>{test} %</b>：平均有 {weight} 的注意力给所指的名词，{other} 给另一个。"
        "对照是同样结构、权重随机的网络：用同样办法选出的最好读法只对 {control} %；随机为 50 %。"
        "注意力只说明信息从哪里取来，并不证明就是它起了决定作用。",
    ),
    "it-steps": (
        "To write “{written}” the decoder looks most at “{via}”, and “{word}” has looked most at "
        "“{most}”.",
        "写“{written}”时，解码器看得最多的是“{via}”，而“{word}”看得最多的是“{most}”。",
    ),
    "it-only-nouns": (
        "Counted are sentences whose two nouns differ in French gender: only there the model "
        "must know which one is meant.",
        "只统计两个名词在法语里性别不同的句子：只有在那里模型才必须知道指的是哪一个。",
    ),
    "layers": ("Layer by layer", "逐层来看"),
    "layers-read": (
        "The same row in each layer, mean over its heads.",
        "同一行在每一层里的注意力，各头取平均。",
    ),
    "training": ("How it was trained", "怎样训练的"),
    "training-read": (
        "Loss over updates, in nats per token: how surprised the model is by the next token.",
        "损失随更新次数的变化（每个词元，以奈特计）：模型对下一个词元有多意外。",
    ),
    "training-keys": (
        '<span class="key training"></span>training, with label smoothing, which keeps it '
        'from reaching 0 &nbsp; <span class="key validation"></span>validation, without',
        '<span class="key training"></span>训练（含标签平滑，所以到不了 0） &nbsp; '
        '<span class="key validation"></span>验证（不含）',
    ),
    "recipe": ("recipe", "配方"),
    "corpus": ("learned from", "训练数据"),
    "shape": ("shape", "结构"),
    "shape-is": (
        "{n} + {m} layers of width {d}, {h} heads each",
        "{n} + {m} 层，宽 {d}，每层 {h} 个头",
    ),
    "updates": ("updates", "更新次数"),
    "speed": ("target tokens a second", "每秒目标词元"),
    "next": ("What to do next", "接下来"),
    "next-translate": ("Translate what you type:", "翻译你输入的句子："),
    "next-look": (
        "Follow a sentence through the model, number by number:",
        "逐个数字地跟着一句话走过模型：",
    ),
    "next-train": ("Train on your own two files:", "用你自己的两个文件训练："),
    "footer": (
        "Written by <code>regard demo</code>. The numbers are in report.json, the pictures "
        "in pictures/.",
        "由 <code>regard demo</code> 生成。数字在 report.json 里，图片在 pictures/ 里。",
    ),
}


def name_pair(pair: str) -> tuple[str, str]:
    """``zh-en`` as people call it, in both languages; what is no pair keeps its name."""
    source, _, target = pair.partition("-")
    if source not in LANGUAGES or target not in LANGUAGES:
        return pair, pair
    (english, chinese), (to_english, to_chinese) = LANGUAGES[source], LANGUAGES[target]
    return f"{english} to {to_english}", f"{chinese}到{to_chinese}"


def name_place(reading: Reading) -> tuple[str, str]:
    """The layer and head of a reading, in both languages."""
    english, chinese = {"encoder": ("Encoder", "编码器"), "cross": ("Decoder", "解码器")}[
        reading.kind
    ]
    layer, head = reading.layer, reading.head
    if layer is None:
        return f"{english}, rollout through all layers", f"{chinese}，贯穿各层的 rollout"
    if head is None:
        return (
            f"{english} layer {layer} (counted from 0), mean of its heads",
            f"{chinese}第 {layer} 层（从 0 数起），各头平均",
        )
    return (
        f"{english} layer {layer}, head {head} (both counted from 0)",
        f"{chinese}第 {layer} 层，第 {head} 头（都从 0 数起）",
    )


def say(name: str, **values: object) -> str:
    """A sentence in both languages, of which the page shows one; a value may be one for each."""
    said = []
    for i, text in enumerate(PROSE[name]):
        own = {key: one[i] if isinstance(one, tuple) else one for key, one in values.items()}
        said.append(text.format(**{key: escape(str(one)) for key, one in own.items()}))
    return _marked(*said)


def both(english: str, chinese: str) -> str:
    """Two texts, escaped, of which the page shows one."""
    return _marked(escape(english), escape(chinese))


def _marked(english: str, chinese: str) -> str:
    return f'<span class="said" lang="en">{english}</span>' + (
        f'<span class="said" lang="zh-Hans">{chinese}</span>'
    )
