"""How many requests a second the service answers, batched and one at a time, in the same run.

    $ python benchmarks/serving.py --model MODEL --source FILE
    $ python benchmarks/serving.py --model MODEL --source FILE --beam 1 --seconds 10
    $ python benchmarks/serving.py --model MODEL --source FILE --engines regard ctranslate2

MODEL is a model folder, FILE holds sentences of its source language. Servers are started with
the real command: one as it comes, one with `--batch 1`, which searches for one sentence after
the other (*one at a time*), and where asked one with `--engine ctranslate2`, and that with
`--batch 1`. *Naive* is what people write in an afternoon: the same weights in `transformers`, a
lock, one request after the other (`plain_server.py`). For 1, 16 and 64 clients each of them is
asked for a while, in turns. A client sends a request of one sentence, waits for its answer and
sends the next; all clients share one process and as little work as HTTP allows, for they run on
the same cores. Batched and one at a time must give the same translations for nearly all
sentences (where the kernels search, for all: who else is in a batch changes no bit). Requests a
second of the server's own processor time are what to look at where other programs run beside it.
"""

import argparse
import asyncio
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from machine import facts, print_facts, print_table

from regard.systems import export_model

ALONE, NAIVE = "one at a time", "naive"
OTHER = "ctranslate2"
OPTIONS = {
    "regard": (),
    ALONE: ("--batch", "1"),
    OTHER: ("--engine", OTHER),
    f"{OTHER}, {ALONE}": ("--engine", OTHER, "--batch", "1"),
}


@dataclass
class Figures:
    """What some clients saw of one server."""

    seconds: float = 0.0
    worked: float = 0.0  # of the server's processor time
    waits: list[float] = field(default_factory=list)
    answers: dict[str, str] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        """Requests a second."""
        return len(self.waits) / self.seconds

    def percentile(self, percent: int) -> float:
        """Milliseconds within which this share of the answers came."""
        return 1000 * statistics.quantiles(self.waits, n=100, method="inclusive")[percent - 1]


@dataclass(frozen=True)
class Running:
    """A server: its address, and its process."""

    place: tuple[str, int]
    process: int

    @property
    def worked(self) -> float:
        """Seconds of processor time it has used, where Linux tells."""
        try:
            stat = Path(f"/proc/{self.process}/stat").read_text(encoding="ascii")
        except OSError:
            return float("nan")
        user, system = stat.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(model: Path, threads: int, *options: str) -> Iterator[Running]:
    """The real command on any free port."""
    command = ["-m", "regard", "serve", str(model), "--port", "0", "--quiet"]
    with running([*command, "--threads", str(threads), *options]) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        found = re.search(r"http://(\S+):(\d+)", said)
        assert found, said
        yield Running((found[1], int(found[2])), process.pid)


@contextmanager
def serving_plainly(model: Path, threads: int) -> Iterator[Running]:
    """The same weights by the library that most people know, one request after the other."""
    with TemporaryDirectory() as folder, socket.socket() as free:
        exported = export_model(model, "huggingface", Path(folder) / "model")
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        command = [str(Path(__file__).with_name("plain_server.py")), str(exported)]
        command += ["--port", str(port), "--threads", str(threads)]
        with running(command, subprocess.DEVNULL) as process:  # nobody reads what it says
            yield Running(("127.0.0.1", port), process.pid)


@contextmanager
def running(
    arguments: list[str], errors: int = subprocess.PIPE
) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen([sys.executable, *arguments], stderr=errors, text=True)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(60)


async def ask(
    place: tuple[str, int], sentences: list[str], turns: Iterator[int], until: float, beam: int
) -> list[tuple[str, str, float]]:
    """One client with one connection; each answer with its question and how long it took."""
    reader, writer = await asyncio.open_connection(*place)
    seen = []
    while time.perf_counter() < until:
        text = sentences[next(turns) % len(sentences)]
        body = json.dumps({"text": text, "beam": beam}).encode()
        head = (
            f"POST /api/v1/translate HTTP/1.1\r\nHost: {place[0]}:{place[1]}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        began = time.perf_counter()
        writer.write(head.encode() + body)
        answered = await reader.readuntil(b"\r\n\r\n")
        assert answered.startswith(b"HTTP/1.1 200"), answered
        length = re.search(rb"content-length: (\d+)", answered.lower())
        assert length
        said = json.loads(await reader.readexactly(int(length[1])))
        took = time.perf_counter() - began
        seen.append((text, said["translations"][0]["hypotheses"][0]["text"], took))
    writer.close()
    return seen


async def load(
    place: tuple[str, int], sentences: list[str], n_clients: int, seconds: float, beam: int
) -> Figures:
    turns = count()
    began = time.perf_counter()
    clients = (ask(place, sentences, turns, began + seconds, beam) for _ in range(n_clients))
    async with asyncio.timeout(seconds + 120):  # a server that hangs is to be seen
        seen = [one for client in await asyncio.gather(*clients) for one in client]
    figures = Figures(time.perf_counter() - began)
    for text, answer, took in seen:
        figures.waits.append(took)
        figures.answers[text] = answer
    return figures


async def wait_for(place: tuple[str, int]) -> None:
    for _ in range(1200):
        try:
            _, writer = await asyncio.open_connection(*place)
        except OSError:
            await asyncio.sleep(0.1)
        else:
            writer.close()
            return
    raise TimeoutError


def measure(choice: argparse.Namespace, sentences: list[str]) -> list[list[str]]:
    rows = []
    with ExitStack() as stack:
        servers = {
            name: stack.enter_context(serving(choice.model, choice.threads, *OPTIONS[name]))
            for name in dict.fromkeys([*choice.engines, ALONE])
        }
        servers[NAIVE] = stack.enter_context(serving_plainly(choice.model, choice.threads))
        for server in servers.values():
            asyncio.run(wait_for(server.place))
            asyncio.run(load(server.place, sentences, 2, 1.0, choice.beam))  # to be warm
        for n_clients in choice.clients:
            found = {name: Figures() for name in servers}
            for _ in range(choice.rounds):
                for name, server in servers.items():
                    before = server.worked
                    part = asyncio.run(
                        load(server.place, sentences, n_clients, choice.seconds, choice.beam)
                    )
                    whole = found[name]
                    whole.worked += server.worked - before
                    whole.seconds += part.seconds
                    whole.waits += part.waits
                    whole.answers |= part.answers
            rows += [described(n_clients, name, found) for name in found]
    return rows


def described(n_clients: int, name: str, found: dict[str, Figures]) -> list[str]:
    one, alone, naive = found[name], found[ALONE], found[NAIVE]
    both = one.answers.keys() & alone.answers.keys()
    alike = sum(one.answers[text] == alone.answers[text] for text in both)
    if name == "regard":
        assert not both or alike / len(both) > 0.95, f"{alike} of {len(both)} answers are alike"
    return [
        f"{n_clients}, {name}",
        f"{one.rate:,.1f}",
        f"{one.rate / alone.rate:.2f}",
        f"{one.rate / naive.rate:.1f}",
        f"{len(one.waits) / one.worked:,.1f}",
        f"{one.percentile(50):,.0f}",
        f"{one.percentile(99):,.0f}",
        f"{alike} of {len(both)}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 16, 64])
    parser.add_argument("--seconds", type=float, default=5.0, help="for each server and round")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--engines", nargs="+", choices=OPTIONS, default=["regard"])
    parser.add_argument("--beam", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2, help="of each server")
    choice = parser.parse_args()
    sentences = choice.source.read_text(encoding="utf-8").splitlines()
    said = facts() | {"model": choice.model.name, "beam": str(choice.beam)}
    print_facts(said | {"threads": str(choice.threads)})
    head = [
        "clients",
        "requests/s",
        "over one at a time",
        "over naive",
        "a CPU second",
        "p50 ms",
        "p99 ms",
        "alike",
    ]
    print_table(head, measure(choice, sentences))


if __name__ == "__main__":
    main()
