"""What the demo prints: prose, scores, sentences, shades and bars; plain text in a pipe."""

from rich.text import Text

from regard.cli.explain.showing import number_lines
from regard.cli.heat import heat_map, percent, shade
from regard.cli.terminal import beside, clean, open_console, print_lines, say
from regard.corpora import Extract
from regard.counting import counted
from regard.inspection.looking import Looking
from regard.lessons.demo import FORMATS, Folder
from regard.lessons.explanation import NumberTable
from regard.lessons.report import ROWS, Contents, PronounLook, name_place
from regard.text.tokens import Label

INDENT, GAP = 2, 4
MEANING_DECIDES = {"en-fr": "it", "zh-fr": "它"}
LEARN_MORE = "regard train on your own pairs (the last command below)"
NEXT = {
    "translate": "translate what you type",
    "look": "follow a sentence through the model, number by number",
    "train": "train on your own two files",
}


def alignment_map(looking: Looking, width: int) -> list[Text]:
    """Which word came from where, in percent; brackets stand around the true links."""
    truth = set(looking.truth)

    def cell(i: int, j: int) -> Text:
        weight = looking.weights[i][j]
        said = f"[{percent(weight)}]" if (i, j) in truth else f"{percent(weight)} "
        return Text(said, shade(weight))

    rows, columns = ([Label(word, ()) for word in side] for side in (looking.rows, looking.columns))
    return heat_map(cell, rows, columns, width, number=5).lines


def headline(extract: Extract, minutes: float | None, folder: Folder) -> None:
    """Say what is about to happen, and how long it takes."""
    say()
    say("Regard: a translator from nothing", "bold")
    long = (
        f"at most {counted(minutes, 'minute')} of training"
        if minutes
        else "a few minutes of training"
    )
    say(
        f"A Transformer learns {extract.corpus}{f' {extract.pair}' if extract.pair else ''} from "
        f"drawn sentences; {long} on an ordinary processor. Then it is measured on sentences it "
        "never saw, and opened up. Ctrl-C stops it; the same command goes on from there."
    )
    if extract.pair in MEANING_DECIDES:
        word = MEANING_DECIDES[extract.pair]
        say(
            f"In French “{word}” is il or elle: the model has to find out which noun it stands for."
        )
    say(f"Everything goes to {folder.path}", wraps=False)
    say()


def show(contents: Contents, folder: Folder) -> None:
    """Print what was found, where it is kept, and what to do next."""
    _show_scores(contents)
    _show_sentences(contents)
    _show_alignment(contents)
    if contents.looks:
        _show_pronoun(contents)
    _title("Kept")
    for path, about in (
        (folder.page, "all of this as one page; open it in a browser"),
        (folder.numbers, "every number"),
        (folder.pictures, f"the pictures, as {' and '.join(FORMATS)}"),
        (folder.model, "the model"),
    ):
        say(f"  {path}  {about}", wraps=False)
    _title("Next")
    for kind, command in contents.commands:
        say(f"  {NEXT[kind]}:")
        say(f"    {command}", "cyan", wraps=False)
    say()


def _show_scores(contents: Contents) -> None:
    _title("How good is it?")
    for score in contents.scores:
        what = {
            "test": counted(score.n, "new sentence"),
            "combinations": f"{counted(score.n, 'new combination')} of known words",
        }
        say(
            f"  {what.get(score.split, f'{score.n:,} {score.split}')}: BLEU {score.bleu:.1f}, "
            f"{100 * score.exact:.1f} % exactly right"
        )
    found = contents.pronouns
    if found is not None:
        each = ", ".join(f"{p} {right} of {n}" for p, (n, right) in found.by_pronoun.items())
        say(
            f"  {counted(found.n, 'sentence')} where the meaning alone tells il from elle: "
            f"{100 * found.accuracy:.1f} % have the right one ({each}); guessing gives "
            f"{100 * found.guessing:.1f} %"
        )
    trained = contents.trained
    if trained.is_undertrained:
        say(
            f"  Undertrained: it learned for {trained.updates:,} of {trained.planned:,} updates. "
            "This shows how the demo works, not what the model can do."
        )
    say(
        f"  It knows the words and constructions of this corpus alone; {LEARN_MORE} makes one "
        "that knows more."
    )


def _show_sentences(contents: Contents) -> None:
    _title("Side by side")
    for one in contents.sentences:
        mark, style = ("✓", "bold green") if one.is_right else ("✗", "bold #d9682c")
        say(one.source, "dim", indent=4)
        say(Text.assemble((mark, style), f" {clean(one.output)}"), indent=INDENT)
        if not one.is_right:
            say(f"truth: {one.truth}", "dim", indent=4)


def _show_alignment(contents: Contents) -> None:
    _title("Which word came from where")
    brackets = (
        "; [ ] are the true links, which it was never told" if contents.alignment.truth else ""
    )
    say(f"Rows: the translation. Columns: the source. Percent{brackets}.", indent=INDENT)
    console = open_console()
    print_lines(console, alignment_map(contents.alignment, console.width - INDENT), INDENT)


def _show_pronoun(contents: Contents) -> None:
    valid, test, control = contents.valid_reading, contents.test_reading, contents.control
    assert valid is not None
    assert test is not None
    assert control is not None
    first = contents.looks[0]
    words = " or ".join(dict.fromkeys(f"“{look.word}”" for look in contents.looks))
    is_written = valid.reading.row == "translation"
    _title(f"What it looks at to write {words}" if is_written else f"What {words} looks at")
    if first.token != first.word:
        say(f"  The tokenizer made one token of “{first.token}”: it looks as a whole.")
    say(
        f"  {name_place(valid.reading)[0]}, {ROWS[valid.reading.row][0]}: the attention that best "
        f"told what the pronoun stands for on {counted(valid.n, 'validation sentence')}."
    )
    say(
        f"  On {counted(test.n, 'test sentence')} the right noun gets more than the other one in "
        f"{100 * test.share:.0f} %: {test.weight:.2f} of the attention against {test.other:.2f}. "
        f"Control: the same network untrained {100 * control.share:.0f} %, chance 50 %."
    )
    if valid.reading.row == "adjective" and contents.needs_antecedent:
        for look in contents.looks:
            say(
                f"  To write “{look.written}” the decoder looks most at “{look.via}”, and "
                f"“{look.word}” has looked most at “{look.most}”."
            )
    if not contents.needs_antecedent:
        say(
            "  In this pair the pronoun is translated alike whatever it stands for, so nothing "
            "makes the model find out: regard demo --pair en-fr trains one that has to."
        )
    console = open_console()
    blocks = [_bars(look) for look in contents.looks]
    is_wide = sum(block[0].cell_len + GAP for block in blocks) <= console.width
    for side_by_side in [blocks] if is_wide else [[block] for block in blocks]:
        print_lines(console, [Text(), *beside(side_by_side, GAP)], INDENT)


def _bars(look: PronounLook) -> list[Text]:
    looking = look.looking
    true = {column for _, column in looking.truth}
    words = tuple(f"{word} ◂" if j in true else word for j, word in enumerate(looking.columns))
    cells = tuple((weight,) for weight in looking.row)
    name = f"{look.written} = {look.antecedent}"
    return number_lines(NumberTable(name, words, ("α",), cells, "bars"), 60)


def _title(text: str) -> None:
    say()
    say(text, "bold")
