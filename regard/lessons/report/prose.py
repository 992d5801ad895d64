"""The sentences of the page, each in English and in Chinese."""

import re
import tomllib
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


def say(name: str, **values: object) -> tuple[list[list[str]], list[list[str]]]:
    """A sentence in both languages, each in parts of one style; a value may be one for each."""
    english, chinese = (
        _styled(
            text, {key: one[i] if isinstance(one, tuple) else one for key, one in values.items()}
        )
        for i, text in enumerate(PROSE[name])
    )
    return english, chinese


def _styled(text: str, values: dict[str, object]) -> list[list[str]]:
    """The parts of a text as ``[style, words]``; what is put in is never taken for a style."""
    parts = re.split(r"<(code|i|b)>(.*?)</\1>", text)
    found = []
    for at in range(0, len(parts), 3):
        found.append(["plain", parts[at].format(**values)])
        if at + 1 < len(parts):
            found.append([parts[at + 1], parts[at + 2].format(**values)])
    return [part for part in found if part[1]]
