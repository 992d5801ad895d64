"""The sentences of the page, each in English and in Chinese."""

import tomllib
from html import escape
from importlib.resources import files

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

PROSE: dict[str, tuple[str, str]] = {
    name: (said["en"], said["zh"])
    for name, said in tomllib.loads(
        files(__package__).joinpath("prose.toml").read_text(encoding="utf-8")
    ).items()
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
