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
_NEIGHBOURS = {
    "previous word": "前一个词",
    "next word": "后一个词",
    "second word before": "前面第二个词",
    "second word after": "后面第二个词",
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
) -> Saying:
    """What a head does, in plain words.

    Args:
        neighbours: how often each neighbour is what it looks at most.
        relations: (relation, direction, score, gain) that it serves.
        found: further rulers that chose it: "rare", "coreference".
        special: the share of its weight on special tokens; ``punctuation`` on those.
        evenness: its entropy over that of even weights.
    """
    said: list[Saying] = []
    for name, share in neighbours.items():
        if share >= OFTEN:
            said.append(
                (f"looks at the {name} ({share:.0%})", f"看{_NEIGHBOURS[name]}（{share:.0%}）")
            )
    for direction in dict.fromkeys(one[1] for one in relations):
        english, chinese = DIRECTIONS[direction]
        named = ", ".join(f"{r} {s:.0%}" for r, d, s, _ in relations if d == direction)
        said.append((f"{english}: {named}", f"{chinese}：{named}"))
    if "coreference" in found:
        said.append(("looks at what a word stands for", "看代词的所指"))
    if "rare" in found:
        said.append(("looks at the rarest word", "看最罕见的词"))
    if special >= RESTS:
        said.append(
            (f"rests on special tokens ({special:.0%})", f"停在特殊符号上（{special:.0%}）")
        )
    if punctuation >= RESTS:
        said.append(
            (f"rests on punctuation ({punctuation:.0%})", f"停在标点上（{punctuation:.0%}）")
        )
    if not said and evenness > 0.9:
        said.append(("looks everywhere alike", "到处看得差不多"))
    said = said or [("follows none of the regularities asked for", "不遵循所测的任何一种规律")]
    return "; ".join(one[0] for one in said), "；".join(one[1] for one in said)


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
