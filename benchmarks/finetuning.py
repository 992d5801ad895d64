"""Tagging parts of speech in a treebank, by an encoder that was pre-trained and one that was not.

    $ python benchmarks/finetuning.py --data treebank --text pydoc --out runs/finetuning
    $ python benchmarks/finetuning.py --data treebank --init MODEL --out runs/finetuning

The treebank is Universal Dependencies' English EWT: en_ewt-ud-train.conllu.gz, -dev.conllu and
-test.conllu. A bert-tiny is pre-trained on plain text (a file, or an embedded one) and on the
sentences of the training part, without their tags, unless --init names a model. Then taggers learn
from the first 500, 2,000 and all sentences, once from nothing and once from that model, with the
same recipe and the same seed, each as long as the recipe says. The best on the development part is
kept and measured once on the test part. As a floor: each word's most frequent tag, and for words
never seen the most frequent of all.

All runs are counted in updates, so a loaded machine changes the time and not the result.
"""

import argparse
import time
from collections import Counter, defaultdict
from pathlib import Path

import torch
from machine import facts, print_facts, print_table

from regard.cli.training_session import run_session
from regard.config import read_recipe
from regard.data import Tagged, parse_labelled, read_tagged
from regard.evaluation import accuracy, by_label, macro_f1
from regard.systems import WordTagger
from regard.text.sentences import joined

TRAIN, DEV, TEST = (
    f"en_ewt-ud-{part}" for part in ("train.conllu.gz", "dev.conllu", "test.conllu")
)


def read(path: Path) -> list[Tagged]:
    return read_tagged([parse_labelled(str(path))])


def write(path: Path, sentences: list[Tagged]) -> Path:
    """As the command reads it: a word a line, an empty line between sentences."""
    path.parent.mkdir(parents=True, exist_ok=True)
    blocks = (
        "".join(f"{w}\t{t}\n" for w, t in zip(one.words, one.tags, strict=True))
        for one in sentences
    )
    path.write_text("\n".join(blocks), encoding="utf-8")
    return path


def most_frequent(learned: list[Tagged], test: list[Tagged]) -> list[str]:
    """Each word's most frequent tag."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for one in learned:
        for word, tag in zip(one.words, one.tags, strict=True):
            counts[word][tag] += 1
    common = Counter(tag for one in learned for tag in one.tags).most_common(1)[0][0]
    best = {word: found.most_common(1)[0][0] for word, found in counts.items()}
    return [best.get(word, common) for one in test for word in one.words]


def pretrain(text: list[str], out: Path, updates: int, threads: int) -> Path:
    names = ", ".join(f"'{one}'" for one in text)
    changes = [f"data.train=[{names}]", f"training.updates={updates}", "data.unit=line"]
    run(read_recipe("bert-tiny", changes), out, threads)
    return out


def run(recipe: object, out: Path, threads: int) -> float:
    began = time.monotonic()
    run_session(recipe, out, device="cpu", n_threads=threads, writes_tensorboard=False)  # type: ignore[arg-type]
    return time.monotonic() - began


def main() -> None:
    """Pre-train, fine-tune, measure, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="the treebank's folder")
    parser.add_argument("--text", action="append", default=[], help="plain text to pre-train on")
    parser.add_argument("--init", type=Path, help="a model to begin from, in place of --text")
    parser.add_argument("--out", type=Path, required=True, help="the same again continues")
    parser.add_argument("--sizes", type=int, nargs="+", default=[500, 2000, 0], help="0 is all")
    parser.add_argument("--updates", type=int, nargs=2, metavar=("NOTHING", "INIT"), default=None)
    parser.add_argument("--most", type=int, help="sentences of the development and test part")
    parser.add_argument("--pretraining", type=int, default=3000, help="updates of it")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="changes")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    print_facts(facts())
    learned, test = read(given.data / TRAIN), read(given.data / TEST)[: given.most]
    valid = write(given.out / "dev.tsv", read(given.data / DEV)[: given.most])
    init = given.init
    if init is None:
        plain = given.out / "train.txt"
        plain.write_text("".join(f"{one.texts[0]}\n" for one in learned), encoding="utf-8")
        init = pretrain(
            [str(plain), *given.text], given.out / "bert", given.pretraining, given.threads
        )
    truth = [tag for one in test for tag in one.tags]
    sentences = [joined(one.words) for one in test]
    rows = []
    for size in given.sizes:
        part = learned[: size or None]
        path = write(given.out / f"train-{len(part)}.tsv", part)
        floor = accuracy(most_frequent(part, test), truth)
        rows.append([f"{len(part):,}", "most frequent tag", "", f"{100 * floor:.2f}", ""])
        for name, start in (("from nothing", None), ("pre-trained", init)):
            out = given.out / f"tag-{len(part)}-{'init' if start else 'nothing'}"
            changes = [f"data.train=['{path}']", f"data.valid=['{valid}']"]
            changes += [f"training.updates={given.updates[bool(start)]}"] if given.updates else []
            changes += given.changes
            changes += [f"training.init='{start}'"] if start else []
            seconds = run(read_recipe("bert-tag", changes), out, given.threads)
            judge = WordTagger.open(out)
            told = [tag for row in judge.tag(sentences) for tag in row.tags]
            found = macro_f1(by_label(told, truth))
            rows.append(
                [
                    f"{len(part):,}",
                    name,
                    f"{seconds / 60:.1f}",
                    f"{100 * accuracy(told, truth):.2f}",
                    f"{100 * found:.2f}",
                ]
            )
            print_table(["sentences", "encoder", "minutes", "accuracy", "macro F1"], rows[-1:])
    print()
    print_table(["sentences", "encoder", "minutes", "accuracy", "macro F1"], rows)


if __name__ == "__main__":
    main()
