"""The report of a head study as the viewer shows it: sections of texts, tables and a picture."""

from dataclasses import asdict
from typing import Any

from regard.inspection.head_study.findings import Finding
from regard.inspection.head_study.report import SHOWN, HeadReport, Saying
from regard.inspection.head_study.wording import (
    DIRECTIONS,
    GROUPS,
    RULERS,
    name_relation,
    percent,
)
from regard.inspection.looking import Looking

Block = dict[str, Any]
_HEAD: list[Saying] = [
    ("relation", "关系"),
    ("head", "头"),
    ("it ...", "它……"),
    ("score %", "得分 %"),
    ("95 %", "95 % 区间"),
    ("offset", "固定偏移"),
    ("random", "随机权重"),
    ("shuffled", "打乱"),
    ("n", "n"),
    ("", ""),
]


def document(report: HeadReport) -> dict[str, Any]:
    """All that the page says, in its order, in English and Chinese."""
    n_sure = sum(one.is_sure for one in report.relations.values())
    measured = report.measured_on
    sections = [
        _section(("The answer", "回答"), [_text(one) for one in report.answer]),
        _section(("Every head in plain words", "每个头在做什么"), _heads(report)),
        _section(("Heads over relations", "头与关系"), _matrix(report)),
        _section(("What each ruler found", "每把尺子量到什么"), _findings(report)),
        _section(("One head or many", "一个头，还是许多头"), _spread(report)),
        _section(("Elsewhere", "在别的树库上"), _others(report)),
        _section(("How it was measured", "怎样量的"), [_text(one) for one in _method(report)]),
    ]
    return {
        "title": (f"What the heads of {report.model} do", f"{report.model} 的注意力头在做什么"),
        "lead": (
            f"{report.n_heads} heads, measured on {measured.n_sentences:,} sentences of "
            f"{measured.name}.",
            f"共 {report.n_heads} 个头，"
            f"在 {measured.name} 的 {measured.n_sentences:,} 个句子上测量。",
        ),
        "facts": [
            [
                f"{n_sure} / {len(report.relations)}",
                ("relations with a head of their own", "有专门头的关系"),
            ],
            [f"{report.n_heads}", ("heads", "头")],
            [f"{measured.n_words:,}", ("words measured", "测量的词")],
        ],
        "sections": [one for one in sections if one["blocks"]],
        "footer": (
            "Scores are percentages of words whose most attended other word is the right one.",
            "得分是百分比：在多少词上，（除自身外）注意力最大的词正是所要的词。",
        ),
    }  # fmt: skip


def _section(title: Saying, blocks: list[Block]) -> Block:
    return {"title": title, "blocks": blocks}


def _text(said: Saying, kind: str = "text") -> Block:
    return {"kind": kind, "said": said}


def _table(head: list[Any], rows: list[list[Any]]) -> Block:
    return {"kind": "table", "head": head, "rows": rows}


def _heads(report: HeadReport) -> list[Block]:
    """The heads of every layer by what they do; one that is pointed at tells more."""
    heads = [
        {
            "name": one.name,
            "group": one.group,
            "said": one.said,
            "facts": [
                [("weight on the previous word", "前一词权重"), f"{percent(one.offsets['-1'])} %"],
                [("on the next word", "后一词权重"), f"{percent(one.offsets['+1'])} %"],
                [("on itself", "自身权重"), f"{percent(one.own)} %"],
                [("on special tokens", "特殊符号权重"), f"{percent(one.special)} %"],
                [("on punctuation", "标点权重"), f"{percent(one.punctuation)} %"],
                [("entropy of its rows", "各行的熵"), f"{one.entropy:.2f} bits"],
            ],
        }
        for one in report.heads
    ]
    there = {one.group for one in report.heads}
    groups = [[name, said] for name, said in GROUPS.items() if name in there]
    return [{"kind": "heads", "groups": groups, "heads": heads}]


def _matrix(report: HeadReport) -> list[Block]:
    """The gain of every head that gains anywhere; chosen ones have a frame."""
    spread = report.spread
    rows = [n for n, row in enumerate(spread.gain) if max(row, default=0) >= SHOWN]
    if not rows:
        return []
    places = {spread.heads[n]: k for k, n in enumerate(rows)}
    truth = tuple(
        (places[one.name], spread.relations.index(name))
        for name, one in report.relations.items()
        if one.is_sure and one.name in places and name in spread.relations
    )
    looking = Looking(
        tuple(spread.heads[n] for n in rows),
        spread.relations,
        tuple(tuple(max(0.0, one) for one in spread.gain[n]) for n in rows),
        truth,
    )
    said = (
        "Each cell is what the head has over the best fixed offset, in points; a frame marks the "
        "head that was chosen, where it is sure. Heads that gain less than five are left out.",
        "每一格是这个头比最佳固定偏移多出的百分点；有框的是选中且确定的头。增益不到五个百分点的头不画。",
    )
    high = max(max(row) for row in looking.weights)
    picture = {"kind": "matrix", "looking": asdict(looking), "caption": "", "high": high}
    return [_text(said), picture]


def _findings(report: HeadReport) -> list[Block]:
    blocks: list[Block] = []
    for ruler, said in RULERS.items():
        rows = [_row(name, one) for kind, name, one in report.rows() if kind == ruler]
        if rows:
            blocks += [_text(said, "heading"), _table(_HEAD, rows)]
    shares = [
        [
            name_relation(name),
            f"{one.kind}.{one.layer}.{one.head}",
            *([percent(one.score), f"{percent(one.low)}–{percent(one.high)}"]),
            *(percent(one.chance), percent(one.random)),
        ]
        for name, one in report.sinks.items()
    ]
    head: list[Any] = [("weight on", "权重停在"), *_HEAD[1:2], *_HEAD[3:5]]
    head += [("even weights", "均匀权重"), _HEAD[6]]
    blocks += [_text(("sinks", "停留处"), "heading"), _table(head, shares)]
    if report.alignment is not None:
        blocks += _alignment(report)
    return blocks


def _row(name: str, one: Finding) -> list[Any]:
    return [
        name_relation(name),
        one.name,
        DIRECTIONS[one.direction],
        percent(one.score),
        f"{percent(one.low)}–{percent(one.high)}",
        percent(one.offset) + (f" ({one.offset_name})" if one.offset_name else ""),
        percent(one.random),
        percent(one.shuffled),
        f"{one.n:,}",
        "✓" if one.is_sure else "",
    ]  # fmt: skip


def _alignment(report: HeadReport) -> list[Block]:
    one = report.alignment
    assert one is not None
    rows: list[list[Any]] = [
        [
            f"cross.{one.layer}.{one.head}",
            one.direction,
            percent(one.score),
            f"{percent(one.low)}–{percent(one.high)}",
            f"{percent(one.offset)} ({one.offset_name})",
            percent(one.random),
            percent(one.shuffled),
            f"{one.n:,}",
        ]
    ]
    head: list[Any] = [
        _HEAD[1],
        ("step", "步"),
        ("alignment error %", "对齐错误率 %"),
        *_HEAD[4:9],
    ]
    said = ("alignment (lower is better)", "词对齐（越低越好）")
    return [_text(said, "heading"), _table(head, rows)]


def _spread(report: HeadReport) -> list[Block]:
    rows: list[list[Any]] = [
        [
            one.relation,
            f"{one.n_effective:.1f}",
            *(percent(one.top[k]) if len(one.top) > k else "–" for k in (0, 1, 4)),
            " ".join(one.heads[:6]) + (" …" if len(one.heads) > 6 else ""),
        ]
        for one in report.spread.of_relation
        if report.relations[one.relation].is_sure
    ]
    head: list[Any] = [
        _HEAD[0],
        ("as over so many heads", "相当于几个头"),
        ("best head %", "最好的头 %"),
        ("best 2 %", "前 2 个 %"),
        ("best 5 %", "前 5 个 %"),
        ("heads with half of the best gain", "至少有最大增益一半的头"),
    ]
    covered = ", ".join(
        f"{name} {share:.0%}"
        for name, share in list(zip(report.spread.few, report.spread.covered, strict=True))[:10]
    )
    said = (
        f"Taken one after the other, these heads cover so much of all gains: {covered}.",
        f"依次取这些头，累计覆盖全部增益的份额：{covered}。",
    )
    return [_table(head, rows), _text(said)] if rows else []


def _others(report: HeadReport) -> list[Block]:
    blocks: list[Block] = []
    for name, found in report.others.items():
        part = report.other_parts[name]
        unknown = f"{part.unknown:.0%}"
        said = (
            f"{name}: {part.n_sentences:,} sentences, {unknown} of the tokens unknown to the model",
            f"{name}：{part.n_sentences:,} 个句子，{unknown} 的词元不在词表中",
        )
        head: list[Any] = [
            _HEAD[0],
            ("chosen head here %", "选中的头在此 %"),
            *_HEAD[4:6],
            ("best head here", "此处最好的头"),
            _HEAD[3],
            _HEAD[8],
        ]
        rows: list[list[Any]] = [
            [
                relation,
                percent(one.score),
                f"{percent(one.low)}–{percent(one.high)}",
                percent(one.offset),
                f"{one.own_head}{' =' if one.is_same else ''}",
                percent(one.own_score),
                f"{one.n:,}",
            ]
            for relation, one in found.items()
        ]
        blocks += [_text(said, "heading"), _table(head, rows)]
    return blocks


def _method(report: HeadReport) -> list[Saying]:
    return [
        (
            "Attention to a word is the sum over its sub-words, attention from it the mean. A "
            "word's own column and special tokens are left out. The largest weight of what remains "
            "is what the head looks at; a relation is read in both directions.",
            "对一个词的注意力是它各子词之和，从一个词发出的注意力是它各子词的平均。"
            "词自身那一列和特殊符号不计。"
            "剩下的最大权重就是这个头所看的词；每种关系按两个方向读。",
        ),
        (
            f"Head and direction were chosen on {report.chosen_on.name} among {report.n_tried}. "
            "Beside every score stand the best fixed offset (chosen there too), the same network "
            f"with random weights (mean of {report.seeds}, the same choice), and shuffled trees.",
            f"头和方向在 {report.chosen_on.name} 上从 {report.n_tried} 种中选出。"
            "每个得分旁边是最佳固定偏移（也在那里选）、"
            f"同样结构的随机权重网络（{report.seeds} 个的平均，同样选择）和打乱的树。",
        ),
        (
            "A check mark says that the interval is above all three. Whether a head causes "
            "anything is another question: switch it off and see.",
            "打勾表示区间高于这三者。一个头是否真正起作用是另一个问题：关掉它看看。",
        ),
    ]
