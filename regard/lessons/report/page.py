"""The page: what was trained, how good it is, what it looks at; in English and in Chinese."""

from html import escape
from importlib.resources import files

from regard.lessons.antecedents import ReadingScore
from regard.lessons.report.charts import curve, heat_map, lines
from regard.lessons.report.contents import Contents, PronounLook, SplitScore, TrainingSummary
from regard.lessons.report.prose import PROSE, ROWS, SPLITS, both, name_pair, name_place, say

_STYLE = files(__package__).joinpath("page.css").read_text(encoding="utf-8")


def write_page(contents: Contents) -> str:
    """One HTML document that needs nothing else."""
    sections = [
        _scores(contents),
        _sentences(contents),
        _alignment(contents),
        _pronoun(contents),
        _training(contents),
        _next(contents),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Regard: {escape(name_pair(contents.title)[0])}</title>\n"
        f"<style>\n{_STYLE}</style>\n</head>\n<body>\n"
        '<input class="tongue" type="radio" name="tongue" id="en" checked aria-label="English">'
        '<input class="tongue" type="radio" name="tongue" id="zh" aria-label="中文">\n'
        f"{_header(contents)}\n<main>\n{''.join(filter(None, sections))}</main>\n"
        f"<footer>{say('footer')}</footer>\n"
        "<script>if(/^zh/.test(navigator.language))document.getElementById('zh').checked=true"
        "</script>\n</body>\n</html>\n"
    )


def _header(contents: Contents) -> str:
    trained = contents.trained
    test = contents.scores[0]
    facts = [
        (f"{test.bleu:.1f}", say("bleu")),
        (f"{100 * test.exact:.1f} %", say("exact")),
        (_clock(trained.seconds), say("minutes")),
        (_count(trained.n_parameters), say("parameters")),
    ]
    if contents.pronouns is not None:
        facts.insert(2, (f"{100 * contents.pronouns.accuracy:.1f} %", say("pronouns")))
    cards = "".join(f"<div><b>{value}</b>{name}</div>" for value, name in facts)
    return (
        '<header><div class="switch"><label for="en">English</label>'
        f'<label for="zh">中文</label></div><p class="lead">Regard</p>'
        f"<h1>{say('title', pair=name_pair(contents.title))}</h1>"
        f'<p class="lead">{say("lead", corpus=trained.corpus, n=f"{test.n:,}")}</p>'
        f'<div class="facts">{cards}</div></header>'
    )


def _scores(contents: Contents) -> str:
    rows = "".join(_score_row(score) for score in contents.scores)
    names = "".join(f'<th class="n">{name}</th>' for name in ("BLEU", "chrF", say("exact")))
    text = f"<h2>{say('scores')}</h2><p>{say('scores-read')}</p>"
    text += (
        f'<div class="scroll"><table class="plain"><tr><th>{say("split")}</th>'
        f'<th class="n">{say("n")}</th>{names}</tr>{rows}</table></div>'
    )
    found = contents.pronouns
    if found is not None:
        each = ", ".join(
            f"{pronoun} {right}/{n}" for pronoun, (n, right) in found.by_pronoun.items()
        )
        text += (
            "<p>"
            + say(
                "pronouns-read",
                n=f"{found.n:,}",
                accuracy=f"{100 * found.accuracy:.1f}",
                guessing=f"{100 * found.guessing:.1f}",
                each=each,
            )
            + "</p>"
        )
    trained = contents.trained
    if trained.is_undertrained:
        planned = f"{trained.planned:,}"
        text += f"<p>{say('undertrained', updates=f'{trained.updates:,}', planned=planned)}</p>"
    text += f"<p>{say('only')}</p>"
    return f'{text}<p class="note">{escape(contents.scores[0].signature)}</p>'


def _score_row(score: SplitScore) -> str:
    english, chinese = SPLITS.get(score.split, (score.split, score.split))
    return (
        f'<tr><td>{both(english, chinese)}</td><td class="n">{score.n:,}</td>'
        f'<td class="n">{score.bleu:.2f}</td><td class="n">{score.chrf:.2f}</td>'
        f'<td class="n">{100 * score.exact:.1f} %</td></tr>'
    )


def _sentences(contents: Contents) -> str:
    text = f"<h2>{say('sentences')}</h2><p>{say('sentences-read')}</p>"
    for one in contents.sentences:
        mark = '<i class="right">✓</i>' if one.is_right else '<i class="wrong">✗</i>'
        text += (
            f'<div class="pair">{mark}<p class="source">{escape(one.source)}</p>'
            f"<p>{escape(one.output)}</p>"
        )
        if not one.is_right:
            text += f'<p class="source"><small>{say("truth")}</small> {escape(one.truth)}</p>'
        text += "</div>"
    return text


def _alignment(contents: Contents) -> str:
    key = f'<p class="note"><span class="key true"></span>{say("key-true")}</p>'
    has_truth = bool(contents.alignment.truth)
    return (
        f"<h2>{say('alignment')}</h2><p>{say('alignment-read')}</p>"
        f"{heat_map(contents.alignment)}{key if has_truth else ''}"
        f'<p class="note">{say("alignment-how", layer=contents.alignment_layer)}</p>'
    )


def _pronoun(contents: Contents) -> str:
    valid, test, control = contents.valid_reading, contents.test_reading, contents.control
    if not contents.looks or valid is None or test is None or control is None:
        return ""
    reading = valid.reading
    words = tuple(one.join(dict.fromkeys(_quoted(contents))) for one in (" or ", "或"))
    title = "it-written" if reading.row == "translation" else "it"
    text = f"<h2>{say(title, words=words)}</h2><p>{say('it-read')}</p>"
    text += f"<p>{say('it-needed' if contents.needs_antecedent else 'it-free')}</p>"
    text += f"<h3>{say('it-place', place=name_place(reading), row=ROWS[reading.row])}</h3>"
    text += f'<div class="panels">{"".join(_lines(look) for look in contents.looks)}</div>'
    if reading.row == "adjective" and contents.needs_antecedent:
        for one in contents.looks:
            steps = say("it-steps", written=one.written, via=one.via, word=one.word, most=one.most)
            text += f"<p>{steps}</p>"
    text += f"<p>{_told(valid, test, control)}</p>"
    if contents.pronouns is not None:
        text += f'<p class="note">{say("it-only-nouns")}</p>'
    for look in contents.looks[:1]:
        if look.token != look.word:
            text += f'<p class="note">{say("it-token", word=look.word, token=look.token)}</p>'
    text += f"<h3>{say('layers')}</h3><p>{say('layers-read')}</p>"
    return text + "".join(heat_map(look.by_layer, look.source) for look in contents.looks)


def _quoted(contents: Contents) -> list[str]:
    return [f"“{look.word}”" for look in contents.looks]


def _told(valid: ReadingScore, test: ReadingScore, control: ReadingScore) -> str:
    """How well the chosen reading and its control tell the noun."""
    return say(
        "it-how",
        n=f"{valid.n:,}",
        valid=f"{100 * valid.share:.0f}",
        n_test=f"{test.n:,}",
        test=f"{100 * test.share:.0f}",
        weight=f"{test.weight:.2f}",
        other=f"{test.other:.2f}",
        control=f"{100 * control.share:.0f}",
    )


def _lines(look: PronounLook) -> str:
    return (
        f"<figure>{lines(look.looking, look.source)}"
        f"<figcaption>{escape(look.source)}<br>→ {escape(look.output)}</figcaption></figure>"
    )


def _training(contents: Contents) -> str:
    trained = contents.trained
    drawn = curve([("training", trained.training_curve), ("validation", trained.validation_curve)])
    speed = trained.tokens_a_second
    rows = [
        ("recipe", f"<code>{escape(trained.recipe)}</code>"),
        ("corpus", f"<code>{escape(trained.corpus)}</code>"),
        ("parameters", f"{trained.n_parameters:,}"),
        ("shape", _shape(trained)),
        ("updates", f"{trained.updates:,}"),
        ("minutes", _clock(trained.seconds)),
        *([] if speed is None else [("speed", f"{speed:,.0f}")]),
    ]
    table = "".join(f"<tr><th>{say(name)}</th><td>{value}</td></tr>" for name, value in rows)
    text = f"<h2>{say('training')}</h2>"
    if drawn:
        text += f'<p>{say("training-read")}</p>{drawn}<p class="note">{say("training-keys")}</p>'
    return f'{text}<div class="scroll"><table class="plain">{table}</table></div>'


def _shape(trained: TrainingSummary) -> str:
    layers = {"n": trained.n_layers, "m": trained.n_decoder_layers}
    return say("shape-is", **layers, d=trained.d_model, h=trained.n_heads)


def _next(contents: Contents) -> str:
    text = f"<h2>{say('next')}</h2>"
    for kind, command in contents.commands:
        name = f"next-{kind}"
        text += f"<p>{say(name) if name in PROSE else ''}</p><pre>{escape(command)}</pre>"
    return text


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"


def _count(n: int) -> str:
    return f"{n / 1e6:.2f} M" if n >= 100_000 else f"{n:,}"
