"""`regard chat`: talk with a model that learned to answer; it remembers the last turns."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli import searching
from regard.counting import counted, noun

if TYPE_CHECKING:
    from regard.systems import Chat

_COMMANDS = "/reset begins anew, /undo takes the last turn back, /quit leaves"


def chat(
    model: searching.Model,
    beam: Annotated[
        int,
        typer.Option(
            min=1, max=searching.WIDEST, help="Width of the beam; 1 answers word by word."
        ),
    ] = 1,
    alpha: searching.Alpha = 1.0,
    penalty: searching.Penalty = "wu",
    no_repeat: searching.NoRepeat = 0,
    temperature: searching.Temperature = None,
    top_k: searching.TopK = None,
    top_p: searching.TopP = None,
    seed: searching.Seed = 1,
    candidates: Annotated[
        int | None,
        typer.Option(
            min=2, max=1000, help="Draw so many answers, and give the one that tells most."
        ),
    ] = None,
    information: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="How much an answer that fits everything loses: 0.95 unless given."
        ),
    ] = None,
    max_length: Annotated[int, typer.Option(min=1, help="The most tokens of an answer.")] = 100,
    max_tokens: searching.MaxTokens = 512,
    show: Annotated[
        bool,
        typer.Option(
            "--show", help="Then say how probable the answer was and what it was told, on stderr."
        ),
    ] = False,
    threads: searching.Threads = None,
    device: searching.Device = "auto",
) -> None:
    """Talk with a model that learned to answer, a line each; it remembers the last turns."""
    from regard.cli.arriving import lines_of_stdin, typed_lines
    from regard.decoding import Search
    from regard.errors import UsageError
    from regard.systems import DialogueModel, Reranking

    sampling = None
    if any(choice is not None for choice in (temperature, top_k, top_p)):
        if beam > 1 or no_repeat:
            raise UsageError(
                "--beam and --no-repeat search for the best, and --temperature, --top-k and "
                "--top-p draw by chance: give one or the other"
            )
        best = "none of --temperature, --top-k and --top-p for the most probable answer"
        sampling = searching.drawn_by(temperature, top_k, top_p, seed, instead=best)
    if information is not None and candidates is None:
        raise UsageError("--information chooses among answers: add --candidates 20")
    if candidates is not None and (beam > 1 or no_repeat):
        raise UsageError("--candidates are drawn by chance: leave --beam and --no-repeat out")
    weight = Reranking.weight if information is None else information
    reranking = None if candidates is None else Reranking(candidates, weight)
    search = Search(
        width=beam, alpha=alpha, penalty=penalty, no_repeat=no_repeat, sampling=sampling
    )
    answering = searching.open_as(DialogueModel, model, device, threads, max_tokens=max_tokens)
    talk = answering.chat(search, longest=max_length, reranking=reranking)
    searching.write_utf8()
    is_typed = sys.stdin.isatty()
    arriving = (line for burst in lines_of_stdin() for line in burst)
    lines = typed_lines(f"{model}: {_COMMANDS}") if is_typed else arriving
    try:
        for line in lines:
            if not _answered(talk, line.strip(), is_typed=is_typed, shows=show):
                break
    except KeyboardInterrupt:
        if not is_typed:
            raise
        typer.echo(err=True)  # who talks may leave at any moment


def _answered(talk: "Chat", line: str, *, is_typed: bool, shows: bool) -> bool:
    """Answer a line, or do what it commands; gives whether the conversation goes on.

    By pipe every line has a line of its own, which is empty where nothing was said.
    """
    if line and not line.startswith("/"):
        _give(talk, line, shows=shows)
        return True
    goes_on = line != "/quit"
    if line and goes_on:
        searching.tell(_obeyed(talk, line))
    elif not is_typed:  # as in files of conversations
        talk.reset()
    if not is_typed:
        typer.echo()
    return goes_on


def _give(talk: "Chat", line: str, *, shows: bool) -> None:
    try:
        for part in talk.answer(line):
            # What is answered stays on its line, and moves no cursor.
            sys.stdout.write("".join(sign if sign.isprintable() else " " for sign in part))
            sys.stdout.flush()
    finally:
        sys.stdout.write("\n")
        sys.stdout.flush()
    answer = talk.last
    assert answer is not None
    if answer.n_left_out:
        were = noun(answer.n_left_out, "was", "were")
        left_out = counted(answer.n_left_out, "token")
        searching.tell(f"that was too long: its last {left_out} {were} not read")
    if shows:
        scored = talk.scored(answer)
        n = len(scored.tokens)
        searching.tell(
            f"log-probability {scored.log_probability:.2f} of {n} piece{'s' * (n != 1)}; it read "
            f"{answer.source}"
        )


def _obeyed(talk: "Chat", command: str) -> str:
    """What was done, in a sentence."""
    if command == "/reset":
        talk.reset()
        return "all that was said is forgotten"
    if command == "/undo":
        return "the last turn is taken back" if talk.undo() else "there is nothing to take back"
    return f"there is no {command.split()[0]}: {_COMMANDS}"
