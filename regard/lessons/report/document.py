"""The report as the viewer shows it: sections of texts, tables and pictures in two languages.

A text is said in English and in Chinese, each a list of ``[style, words]`` (styles: plain, code, b,
i), so that nothing that was given can be markup. A word or a number that is alike in both stands
as it is.
"""

from dataclasses import asdict
from typing import Any

from regard.inspection.looking import Looking
from regard.inspection.viewer import page
from regard.lessons.antecedents import ReadingScore
from regard.lessons.report.contents import Contents, PronounLook, TrainingSummary
from regard.lessons.report.prose import PROSE, ROWS, SPLITS, name_pair, name_place, say

Block = dict[str, Any]


def write_page(contents: Contents) -> str:
    """One HTML document that needs nothing else: the viewer, open at the report."""
    return page(start="#/report", report=document(contents))


def document(contents: Contents) -> dict[str, Any]:
    """All that the report says, in its order."""
    trained, test = contents.trained, contents.scores[0]
    facts: list[list[Any]] = [
        [f"{test.bleu:.1f}", say("bleu")],
        [f"{100 * test.exact:.1f} %", say("exact")],
        [_clock(trained.seconds), say("minutes")],
        [_count(trained.n_parameters), say("parameters")],
    ]
    if contents.pronouns is not None:
        facts.insert(2, [f"{100 * contents.pronouns.accuracy:.1f} %", say("pronouns")])
    sections = [
        _scores(contents),
        _sentences(contents),
        _alignment(contents),
        _pronoun(contents),
        _training(contents),
        _next(contents),
    ]
    return {
        "title": say("title", pair=name_pair(contents.title)),
        "lead": say("lead", corpus=trained.corpus, n=f"{test.n:,}"),
        "facts": facts,
        "sections": [section for section in sections if section["blocks"]],
        "footer": say("footer"),
    }


def _text(name: str, **values: object) -> Block:
    return {"kind": "text", "said": say(name, **values)}


def _note(name: str, **values: object) -> Block:
    return {"kind": "note", "said": say(name, **values)}


def _matrix(looking: Looking, caption: str = "") -> Block:
    return {"kind": "matrix", "looking": asdict(looking), "caption": caption}


def _scores(contents: Contents) -> Block:
    head = [say("split"), say("n"), "BLEU", "chrF", say("exact")]
    rows = [
        [
            SPLITS.get(score.split, (score.split, score.split)),
            f"{score.n:,}",
            f"{score.bleu:.2f}",
            f"{score.chrf:.2f}",
            f"{100 * score.exact:.1f} %",
        ]
        for score in contents.scores
    ]
    blocks = [_text("scores-read"), {"kind": "table", "head": head, "rows": rows}]
    if (found := contents.pronouns) is not None:
        each = [f"{pronoun} {right}/{n}" for pronoun, (n, right) in found.by_pronoun.items()]
        shares = {
            "accuracy": f"{100 * found.accuracy:.1f}",
            "guessing": f"{100 * found.guessing:.1f}",
        }
        blocks.append(_text("pronouns-read", n=f"{found.n:,}", each=", ".join(each), **shares))
    trained = contents.trained
    if trained.is_undertrained:
        planned = f"{trained.planned:,}"
        blocks.append(_text("undertrained", updates=f"{trained.updates:,}", planned=planned))
    signature = {"kind": "note", "said": contents.scores[0].signature}
    return {"title": say("scores"), "blocks": [*blocks, _text("only"), signature]}


def _sentences(contents: Contents) -> Block:
    shown = [{**asdict(one), "is_right": one.is_right} for one in contents.sentences]
    sentences = {"kind": "sentences", "sentences": shown, "truth": say("truth")}
    return {"title": say("sentences"), "blocks": [_text("sentences-read"), sentences]}


def _alignment(contents: Contents) -> Block:
    key = [_note("key-true")] if contents.alignment.truth else []
    how = _note("alignment-how", layer=contents.alignment_layer)
    blocks = [_text("alignment-read"), _matrix(contents.alignment), *key, how]
    return {"title": say("alignment"), "blocks": blocks}


def _pronoun(contents: Contents) -> Block:
    valid, test, control = contents.valid_reading, contents.test_reading, contents.control
    if not contents.looks or valid is None or test is None or control is None:
        return {"title": "", "blocks": []}
    reading = valid.reading
    quoted = dict.fromkeys(f"“{look.word}”" for look in contents.looks)
    words = tuple(one.join(quoted) for one in (" or ", "或"))
    title = "it-written" if reading.row == "translation" else "it"
    place = say("it-place", place=name_place(reading), row=ROWS[reading.row])
    blocks = [
        _text("it-read"),
        _text("it-needed" if contents.needs_antecedent else "it-free"),
        {"kind": "heading", "said": place},
        {"kind": "lines", "panels": [_panel(look) for look in contents.looks]},
    ]
    if reading.row == "adjective" and contents.needs_antecedent:
        for one in contents.looks:
            seen = {"written": one.written, "via": one.via, "word": one.word, "most": one.most}
            blocks.append(_text("it-steps", **seen))
    blocks.append(_told(valid, test, control))
    blocks += [_note("it-only-nouns")] if contents.pronouns is not None else []
    first = contents.looks[0]
    if first.token != first.word:
        blocks.append(_note("it-token", word=first.word, token=first.token))
    blocks += [{"kind": "heading", "said": say("layers")}, _text("layers-read")]
    blocks += [_matrix(look.by_layer, look.source) for look in contents.looks]
    return {"title": say(title, words=words), "blocks": blocks}


def _panel(look: PronounLook) -> dict[str, Any]:
    return {"looking": asdict(look.looking), "source": look.source, "output": look.output}


def _told(valid: ReadingScore, test: ReadingScore, control: ReadingScore) -> Block:
    """How well the chosen reading and its control tell the noun."""
    return _text(
        "it-how",
        n=f"{valid.n:,}",
        valid=f"{100 * valid.share:.0f}",
        n_test=f"{test.n:,}",
        test=f"{100 * test.share:.0f}",
        weight=f"{test.weight:.2f}",
        other=f"{test.other:.2f}",
        control=f"{100 * control.share:.0f}",
    )


def _training(contents: Contents) -> Block:
    trained = contents.trained
    speed = trained.tokens_a_second
    rows = [
        [say("recipe"), trained.recipe],
        [say("corpus"), trained.corpus],
        [say("parameters"), f"{trained.n_parameters:,}"],
        [say("shape"), _shape(trained)],
        [say("updates"), f"{trained.updates:,}"],
        [say("minutes"), _clock(trained.seconds)],
        *([] if speed is None else [[say("speed"), f"{speed:,.0f}"]]),
    ]
    curves = [
        {"name": say("training-key"), "points": trained.training_curve},
        {"name": say("validation-key"), "points": trained.validation_curve},
    ]
    drawn = [_text("training-read"), {"kind": "curves", "curves": curves}]
    has_curves = bool(trained.training_curve or trained.validation_curve)
    table = {"kind": "table", "head": [], "rows": rows}
    return {"title": say("training"), "blocks": [*(drawn if has_curves else []), table]}


def _shape(trained: TrainingSummary) -> object:
    layers = {"n": trained.n_layers, "m": trained.n_decoder_layers}
    return say("shape-is", **layers, d=trained.d_model, h=trained.n_heads)


def _next(contents: Contents) -> Block:
    blocks = [
        {
            "kind": "command",
            "said": say(f"next-{kind}") if f"next-{kind}" in PROSE else "",
            "command": command,
        }
        for kind, command in contents.commands
    ]
    return {"title": say("next"), "blocks": blocks}


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"


def _count(n: int) -> str:
    return f"{n / 1e6:.2f} M" if n >= 100_000 else f"{n:,}"
