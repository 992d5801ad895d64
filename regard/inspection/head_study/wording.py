"""Heads and answers in plain words, in English and in Chinese."""

from collections.abc import Mapping, Sequence

import numpy as np

from regard.counting import counted
from regard.inspection.head_study.findings import Finding
from regard.inspection.head_study.report import Saying
from regard.inspection.head_study.spread import Spread
from regard.inspection.head_study.trials import EVERYTHING

OFTEN = 0.6  # of words at which a neighbour is looked at most, to name a head by it
RESTS = 0.5  # of the weight
GAINS = 0.1  # over the fixed offset
EVEN = 0.9  # of the entropy of even weights
NAMES = {  # what is measured, in Chinese
    "previous word": "前一个词",
    "next word": "后一个词",
    "second word before": "前面第二个词",
    "second word after": "后面第二个词",
    "rarest word": "最罕见的词",
    "special tokens": "特殊符号",
    "punctuation": "标点",
    "all": "全部",
    "pronouns": "代词",
    "names and nouns": "名称与名词",
}
# The relations of Universal Dependencies, as people call them.
RELATIONS: dict[str, Saying] = {
    "nsubj": ("subject", "主语"),
    "csubj": ("clausal subject", "主语从句"),
    "obj": ("object", "宾语"),
    "iobj": ("indirect object", "间接宾语"),
    "ccomp": ("clausal complement", "补语从句"),
    "xcomp": ("open complement", "开放补语"),
    "obl": ("oblique", "斜格成分"),
    "advcl": ("adverbial clause", "状语从句"),
    "advmod": ("adverb", "副词修饰"),
    "amod": ("adjective", "形容词修饰"),
    "nmod": ("noun modifier", "名词修饰"),
    "appos": ("apposition", "同位语"),
    "nummod": ("number", "数词修饰"),
    "acl": ("clause of a noun", "定语从句"),
    "det": ("determiner", "限定词"),
    "case": ("preposition or case marker", "介词或格标记"),
    "clf": ("classifier", "量词"),
    "aux": ("auxiliary", "助动词"),
    "cop": ("copula", "系词"),
    "mark": ("subordinator", "从句标记"),
    "cc": ("conjunction", "连词"),
    "conj": ("conjunct", "并列项"),
    "compound": ("compound", "复合"),
    "flat": ("flat name", "并列名称"),
    "fixed": ("fixed expression", "固定搭配"),
    "expl": ("expletive", "虚位成分"),
    "vocative": ("address", "呼语"),
    "discourse": ("interjection", "话语成分"),
    "parataxis": ("side by side", "并置"),
    "list": ("list", "列表"),
    "dislocated": ("dislocated", "移位成分"),
    "orphan": ("orphan", "孤儿成分"),
    "goeswith": ("split word", "拆开的词"),
    "reparandum": ("repair", "改口"),
    "punct": ("punctuation", "标点"),
    "dep": ("unspecified", "未指明"),
}
GROUPS: dict[str, Saying] = {
    "syntax": ("follows a relation", "遵循句法关系"),
    "position": ("looks at a neighbour", "看邻近的词"),
    "coreference": ("looks at what a word stands for", "看所指"),
    "rare": ("looks at rare words", "看罕见词"),
    "sink": ("rests on special tokens or punctuation", "停在特殊符号或标点上"),
    "even": ("looks everywhere alike", "到处看得差不多"),
    "none": ("none of these", "都不是"),
}
DIRECTIONS: dict[str, Saying] = {
    "dependent to governor": ("looks at its governor", "看向支配词"),
    "governor to dependent": ("looks at its dependent", "看向从属词"),
    "mention to antecedent": ("looks back at what it stands for", "回看所指"),
    "antecedent to mention": ("looks ahead to what stands for it", "看向后面的指代词"),
    "from every word": ("looks at it", "看向它"),
}
RULERS: dict[str, Saying] = {
    "syntax": ("syntax", "句法"),
    "position": ("position", "位置"),
    "rare words": ("rare words", "罕见词"),
    "coreference": ("coreference", "指代"),
}


def percent(share: float | None) -> str:
    """A share as people read it."""
    return "–" if share is None else f"{100 * share:.1f}"


def name_head(
    neighbours: Mapping[str, float],
    relations: Sequence[tuple[str, str, float, float]],
    found: Sequence[str],
    special: float,
    punctuation: float,
    evenness: float,
) -> tuple[str, Saying]:
    """What a head does, in plain words, and to which group it belongs by that.

    Args:
        neighbours: how often each neighbour is what it looks at most.
        relations: (relation, direction, score, gain) that it serves.
        found: further rulers that chose it: "rare", "coreference".
        special: the share of its weight on special tokens; ``punctuation`` on those.
        evenness: its entropy over that of even weights.
    """
    told: list[tuple[str, Saying]] = []
    for name, share in neighbours.items():
        if share >= OFTEN:
            said = f"looks at the {name} ({share:.0%})", f"看{NAMES[name]}（{share:.0%}）"
            told.append(("position", said))
    for direction in dict.fromkeys(one[1] for one in relations):
        english, chinese = DIRECTIONS[direction]
        named = ", ".join(f"{r} {s:.0%}" for r, d, s, _ in relations if d == direction)
        told.append(("syntax", (f"{english}: {named}", f"{chinese}：{named}")))
    for name in found:
        told.append((name, GROUPS[name]))
    for name, share in (("special tokens", special), ("punctuation", punctuation)):
        if share >= RESTS:
            told.append(
                ("sink", (f"rests on {name} ({share:.0%})", f"停在{NAMES[name]}上（{share:.0%}）"))
            )
    if not told and evenness > EVEN:
        told.append(("even", GROUPS["even"]))
    told = told or [
        ("none", ("follows none of the regularities asked for", "不遵循所测的任何规律"))
    ]
    in_english, in_chinese = zip(*(said for _, said in told), strict=True)
    return told[0][0], ("; ".join(in_english), "；".join(in_chinese))


def name_relation(name: str) -> Saying:
    """A relation with what it means; of a subtype, that of its kind."""
    known = RELATIONS.get(name.partition(":")[0])
    if known is None:
        return name, NAMES.get(name, name)
    return f"{name} · {known[0]}", f"{name} · {known[1]}"


def answer(
    relations: Mapping[str, Finding], spread: Spread, n_heads: int, n_tried: int, parts: Saying
) -> tuple[Saying, ...]:
    """What the answer is for this model: one head a regularity, or many; and how sure."""
    each = {name: one for name, one in relations.items() if name != EVERYTHING}
    sure = {name: one for name, one in each.items() if one.is_sure}
    chosen_on, measured_on = parts
    how = (
        f"How sure: {counted(n_heads, 'head')} were read in both directions, {n_tried} ways in "
        f"all; each choice was made on {chosen_on} and every figure is of {measured_on}, with "
        f"intervals of 95 % by drawing sentences. Of {len(each)} relations about "
        f"{len(each) / 40:.0f} would pass by chance.",
        f"有多确定：共读了 {n_heads} 个头、两个方向，合计 {n_tried} 种读法；"
        f"选择都在 {chosen_on} 上做，"
        f"数字都在 {measured_on} 上量，95 % 区间由句子重采样得到。{len(each)} 种关系中约有 "
        f"{len(each) / 40:.0f} 种会碰巧通过。",
    )
    if not sure:
        none = (
            f"No head follows any of {len(each)} syntactic relations more often than the best "
            "fixed offset, random weights and shuffled trees do: nothing of syntax can be read off "
            "single heads of this model.",
            f"在 {len(each)} 种句法关系上，没有一个头明显胜过最佳固定偏移、随机权重和打乱的树："
            "从单个头上读不出句法。",
        )
        return none, how
    return (*_who(each, sure), *_how_spread(sure, spread, n_heads), how)


def _who(each: Mapping[str, Finding], sure: Mapping[str, Finding]) -> list[Saying]:
    best = sorted(sure.items(), key=lambda one: -one[1].gain)[:3]
    english, chinese = zip(
        *(
            (
                f"{name} ({one.name} {DIRECTIONS[one.direction][0]}: {percent(one.score)} %, "
                f"offset {percent(one.offset)} %)",
                f"{name}（{one.name} {DIRECTIONS[one.direction][1]}：{percent(one.score)} %，"
                f"固定偏移 {percent(one.offset)} %）",
            )
            for name, one in best
        ),
        strict=True,
    )
    n, total = len(sure), len(each)
    return [
        (
            f"{n} of {total} relations have a head that follows them more often than the best "
            "fixed offset, random weights and shuffled trees do; the clearest are "
            f"{', '.join(english)}.",
            f"{total} 种关系中有 {n} 种，能找到一个头明显胜过最佳固定偏移、随机权重和打乱的树；"
            f"最清楚的是{'、'.join(chinese)}。",
        )
    ]


def _how_spread(sure: Mapping[str, Finding], spread: Spread, n_heads: int) -> list[Saying]:
    spreads = [one for one in spread.of_relation if one.relation in sure and one.top]
    effective = float(np.median([one.n_effective for one in spreads]))
    top = float(np.median([one.top[0] for one in spreads]))
    near = float(np.median([len(one.heads) for one in spreads]))
    served: dict[str, int] = {}
    for one in spreads:
        for head in one.heads:
            served[head] = served.get(head, 0) + 1
    n_chosen = len({one.name for one in sure.values()})
    n_several = sum(n > 1 for n in served.values())
    enough = next((n for n, share in enumerate(spread.covered, 1) if share >= 0.9), 0)
    verdict = (
        ("each the work of one head", "各由一个头负责")
        if near <= 1.5 and top >= 0.5
        else ("shared by a few heads each", "各由少数几个头分担")
        if effective <= n_heads / 4
        else ("distributed over many heads", "分布在许多头上")
    )
    serves = (
        ("A head may serve several relations", "一个头可以管几种关系")
        if n_several
        else ("No head serves several relations", "没有一个头管几种关系")
    )
    return [
        (
            f"So these regularities are {verdict[0]}: of a relation's gain the best head has "
            f"{top:.0%} (median), the heads with at least half of the best gain are {near:.0f}, "
            f"and the gain is spread as over {effective:.1f} of {n_heads} heads.",
            f"所以这些规律{verdict[1]}：一种关系的增益中，最好的头占 {top:.0%}（中位数），"
            f"{near:.0f} 个头至少有最大增益的一半，"
            f"增益相当于均摊在 {n_heads} 个头中的 {effective:.1f} 个上。",
        ),
        (
            f"{serves[0]}: the {counted(len(sure), 'relation')} found have "
            f"{counted(n_chosen, 'best head')}, {n_several} of {n_heads} heads serve more than "
            f"one, and {counted(enough, 'head')} together would have 90 % of all that single heads "
            "gain.",
            f"{serves[1]}：找到的 {len(sure)} 种关系共有 {n_chosen} 个最佳头，"
            f"{n_heads} 个头中有 {n_several} 个服务于不止一种关系，"
            f"{enough} 个头合起来就有单头增益总和的 90 %。",
        ),
    ]
