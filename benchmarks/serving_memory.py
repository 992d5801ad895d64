"""Whether the memory of a service levels off: its resident size after every 1,000 requests.

    $ python benchmarks/serving_memory.py --model MODEL
    $ python benchmarks/serving_memory.py --model MODEL --words 200 --requests 5000 --every 500

MODEL is a model folder that translates. A server is started with the real command, on loopback, and
asked by several clients at once: 1 to 4 sentences of 1 to 24 words (`--words`), drawn with a fixed
seed from words of the embedded phrasebook and from invented ones. The kinds of requests take turns:

- translate: our own API, beams of 1 to 8, also with alignments
- stream: the same, as it is decoded
- libretranslate: the form of LibreTranslate's clients
- look: a trace, the heads' figures or a picture
- refused: a body that is no JSON, a wrong field, a text that is too long, no such address
- leave: a client that asks and goes before its answer

It ends after so many requests or seconds, whichever is first. "Own" is anonymous memory, "files"
are pages of libraries, which the system takes back when it needs them.
"""

import argparse
import asyncio
import json
import random
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from machine import facts, print_facts, print_table
from serving import Running, serving, wait_for

from regard.corpora import parse_extract

LETTERS = "abcdefghijklmnopqrstuvwxyzéèàçôû"
WAIT = 60.0  # seconds for one answer: a server that hangs is to be seen


@dataclass(frozen=True)
class Request:
    """What is sent, the statuses that may come back, and whether the client waits for them."""

    path: str
    body: bytes
    expected: tuple[int, ...] = (200,)
    is_left: bool = False


class Questions:
    """Requests of varied kinds and lengths, the same ones for the same seed."""

    def __init__(self, words: list[str], kinds: list[str], longest: int, seed: int) -> None:
        self._draw = random.Random(seed)
        self._longest = longest
        self._words = words
        self._kinds = kinds

    def __iter__(self) -> Iterator[Request]:
        while True:
            for kind in self._kinds:
                yield getattr(self, kind)()

    def translate(self) -> Request:
        """Our own API: whole answers."""
        beam = self._draw.choice([1, 2, 4, 5, 5, 8])
        has_alignments = self._draw.random() < 0.1
        return _json("/api/v1/translate", text=self._texts(), beam=beam, alignments=has_alignments)

    def stream(self) -> Request:
        """Our own API: as it is decoded."""
        return _json("/api/v1/translate/stream", text=self._texts())

    def libretranslate(self) -> Request:
        """As LibreTranslate's clients ask."""
        return _json("/translate", q=self._texts(), source="en", target="fr")

    def look(self) -> Request:
        """Into the model."""
        name, more = self._draw.choice(
            [("trace", {}), ("heads", {}), ("export", {"format": "svg"}), ("trace", {})]
        )
        return _json(f"/api/v1/{name}", source=self._text(15), **more)

    def refused(self) -> Request:
        """What is not taken."""
        which = self._draw.randrange(4)
        if which == 0:
            return Request("/api/v1/translate", b"{", (422,))
        if which == 1:
            return _json("/api/v1/translate", (422,), text=1)
        if which == 2:
            return _json("/api/v1/translate", (413,), text="a " * 20_000)
        return _json(f"/{quote(self._text(1))}", (404, 405), text="a")

    def leave(self) -> Request:
        """Ask, and go."""
        path = self._draw.choice(["/api/v1/translate", "/api/v1/translate/stream"])
        asked = _json(path, text=self._texts())
        return Request(asked.path, asked.body, is_left=True)

    def _texts(self) -> list[str]:
        return [self._text(self._longest) for _ in range(self._draw.choice([1, 1, 2, 4]))]

    def _text(self, most: int) -> str:
        return " ".join(self._word() for _ in range(self._draw.randint(1, most)))

    def _word(self) -> str:
        if self._draw.random() < 0.8:
            return self._draw.choice(self._words)
        return "".join(self._draw.choices(LETTERS, k=self._draw.randint(1, 12)))


def _json(path: str, expected: tuple[int, ...] = (200, 413), **fields: object) -> Request:
    return Request(path, json.dumps(fields).encode(), expected)


async def ask(place: tuple[str, int], questions: Iterator[Request], n_left: list[int]) -> None:
    """One client: a connection for as long as it is let, then another."""
    reader, writer = await asyncio.open_connection(*place)
    while n_left[0] > 0:
        n_left[0] -= 1
        asked = next(questions)
        head = (
            f"POST {asked.path} HTTP/1.1\r\nHost: {place[0]}:{place[1]}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(asked.body)}\r\n\r\n"
        )
        writer.write(head.encode() + asked.body)
        if asked.is_left:
            await asyncio.sleep(0.005)
            writer.close()
            reader, writer = await asyncio.open_connection(*place)
            continue
        async with asyncio.timeout(WAIT):
            status = await _answered(reader)
        assert status in asked.expected, (asked.path, status)
    writer.close()


async def _answered(reader: asyncio.StreamReader) -> int:
    """Read an answer to its end, of which only the status counts."""
    head = await reader.readuntil(b"\r\n\r\n")
    if length := re.search(rb"content-length: (\d+)", head.lower()):
        await reader.readexactly(int(length[1]))
    else:
        while size := int(await reader.readline(), 16):
            await reader.readexactly(size + 2)
        await reader.readline()
    return int(head.split()[1])


async def load(
    server: Running, questions: Iterator[Request], n_requests: int, n_clients: int
) -> None:
    n_left = [n_requests]
    await asyncio.gather(*(ask(server.place, questions, n_left) for _ in range(n_clients)))


def sizes(process: int) -> dict[str, int]:
    """What Linux tells of a process: kilobytes, threads, and open files."""
    folder = Path(f"/proc/{process}")
    said = dict(
        line.split(":", 1) for line in (folder / "status").read_text(encoding="ascii").splitlines()
    )
    names = ("VmRSS", "RssAnon", "RssFile", "VmHWM", "Threads")
    found = {name: int(said[name].split()[0]) for name in names}
    return found | {"files": len(list((folder / "fd").iterdir()))}


def described(n: int, seconds: float, process: int) -> list[str]:
    found = sizes(process)
    megabytes = [f"{found[name] / 1024:,.0f}" for name in ("VmRSS", "RssAnon", "RssFile", "VmHWM")]
    rest = [str(found["Threads"]), str(found["files"])]
    return [f"{n:,}", *megabytes, *rest, f"{seconds:,.0f}"]


def measure(choice: argparse.Namespace) -> list[list[str]]:
    sentences = parse_extract("phrasebook:en-fr:train:2000").draw()
    words = sorted({word for one in sentences for word in one.source.split()})
    questions = iter(Questions(words, choice.kinds, choice.words, choice.seed))
    options = choice.options.split()
    with serving(choice.model, choice.threads, *options) as server:
        asyncio.run(wait_for(server.place))
        rows = [described(0, 0.0, server.process)]
        began = time.monotonic()
        for n in range(choice.every, choice.requests + 1, choice.every):
            asyncio.run(load(server, questions, choice.every, choice.clients))
            rows.append(described(n, time.monotonic() - began, server.process))
            print(" ".join(rows[-1]), file=sys.stderr, flush=True)
            if time.monotonic() - began > choice.seconds:
                break
    return rows


def main() -> None:
    kinds = ["translate", "stream", "libretranslate", "look", "refused", "leave"]
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--model", required=True, help="a folder, or en-fr=FOLDER")
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--every", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=1800.0, help="after which it ends")
    parser.add_argument("--words", type=int, default=24, help="of the longest sentence")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--kinds", nargs="+", choices=kinds, default=kinds)
    parser.add_argument("--threads", type=int, default=2, help="of the server")
    parser.add_argument("--options", default="", help="more for regard serve, in one string")
    parser.add_argument("--seed", type=int, default=1)
    choice = parser.parse_args()
    print_facts(facts() | {"threads": str(choice.threads), "kinds": " ".join(choice.kinds)})
    head = ["requests", "resident MB", "own", "files", "peak", "threads", "open files", "seconds"]
    print_table(head, measure(choice))


if __name__ == "__main__":
    main()
