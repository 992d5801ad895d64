"""Answers learned from real conversations: held-out perplexity, and how much the answers differ.

    $ python benchmarks/dialogue.py split --data DIR --language en --out runs/dialogue-en
    $ regard train dialogue --dialogue runs/dialogue-en/train.txt ... (what `split` prints)
    $ python benchmarks/dialogue.py judge runs/dialogue-en
    $ python benchmarks/dialogue.py smalltalk runs/dialogue

DIR holds XDailyDialog's files: turns with ``__eou__`` after each. `split` puts the conversations of
one language together, drops those that are there twice, and deals them out by conversation, from
one seed: 80 % to learn from, 10 % to validate on, 10 % to test. `judge` looks at the last.
`smalltalk` asks a model of `regard train dialogue` what the embedded corpus holds out, by topic.

Perplexity counts the end of an answer as one more word (or piece). A word is what
``regard.text.words`` says: a Chinese character is one. Beside the model stand pieces by their
frequency in the training answers, and the answer of the nearest question in the training data
(cosine of tf-idf). distinct-n is of Li et al. (2016): different n-grams over all n-grams, which
falls with the amount of text, so all systems answer the same questions.
"""

import argparse
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from random import Random

import torch
from machine import facts, print_facts, print_table

from regard.corpora import SEED, open_corpus
from regard.data import Pair, parse_spec, read_pairs
from regard.data.conversations import read_conversations
from regard.decoding import Limits, Sampling, Search
from regard.engine import keep_heap
from regard.evaluation import distinct, judge, most_frequent
from regard.special import EOS
from regard.systems import Reranking, Translator
from regard.text.turns import last_turns, split_turns
from regard.text.words import split

FILES = {"en": ("part1k_En.txt", "en_dev.txt"), "zh": ("part1k_Zh.txt", "zh_dev.txt")}
SETTINGS = (
    "model.dropout=0.2",
    "text.size=auto",
    "training.updates=1500",
    "training.batch_tokens=2048",
    "training.learning_rate=0.003",
    "training.validate_every=150",
    "training.save_every=150",
    "training.patience=4",
)
LONGEST = 60  # tokens of an answer
LIMITS = Limits(factor=0.0, extra=LONGEST, most=LONGEST)
INFORMATION = (0.0, 0.5, 0.9, 0.95, 1.0)
SEARCHES = {
    "greedy": Search(width=1, limits=LIMITS),
    "beam of 5": Search(width=5, limits=LIMITS),
    "sampled, T = 1": Search(sampling=Sampling(), limits=LIMITS),
    "sampled, T = 0.7, top-p 0.9": Search(
        sampling=Sampling(temperature=0.7, top_p=0.9), limits=LIMITS
    ),
}


def deal_out(data: Path, language: str, out: Path, seed: int) -> None:
    """Write train.txt, valid.txt and test.txt: a turn a line, an empty line between two."""
    found = [tuple(one) for name in FILES[language] for one in read_conversations(data / name)]
    talks = sorted(set(found))
    Random(seed).shuffle(talks)
    first, second = len(talks) * 8 // 10, len(talks) * 9 // 10
    out.mkdir(parents=True, exist_ok=True)
    parts = {"train": talks[:first], "valid": talks[first:second], "test": talks[second:]}
    for name, part in parts.items():
        text = "\n".join("".join(f"{turn}\n" for turn in talk) for talk in part)
        (out / f"{name}.txt").write_text(text, encoding="utf-8")
        print(f"{name}: {len(part):,} conversations, {sum(map(len, part)):,} turns")
    print(f"{len(found) - len(talks)} that were there twice were dropped; seed {seed}. Now:")
    sets = " ".join(f"--set {one}" for one in SETTINGS)
    print(
        f"regard train dialogue --dialogue {out}/train.txt --valid-dialogue {out}/valid.txt "
        f"--out {out}/model --threads 1 {sets}"
    )


def pairs_in(path: Path, turns: int) -> list[Pair]:
    return list(read_pairs(parse_spec(path, turns=turns)))


def words(text: str) -> list[str]:
    return [word.text.lower() for word in split(text)]


def perplexities(log_probability: float, targets: Sequence[str], n_pieces: int) -> list[str]:
    """Per word and per piece, of all answers together."""
    n_words = sum(len(words(target)) + 1 for target in targets)
    return [f"{math.exp(-log_probability / n):.1f}" for n in (n_words, n_pieces)]


def judge_probabilities(translator: Translator, learned: list[Pair], test: list[Pair]) -> None:
    """How probable held-out answers are, after what was said, and after something else."""
    targets = [pair.target for pair in test]
    # The other conversation: as far away as can be, so never the pair's own.
    moved = [test[(i + len(test) // 2) % len(test)].source for i in range(len(test))]
    sources = {
        "the turns before": [pair.source for pair in test],
        "the last turn alone": [last_turns(pair.source, 1) for pair in test],
        "turns of another conversation": moved,
    }
    rows = []
    for name, some in sources.items():
        scored = list(translator.score(zip(some, targets, strict=True)))
        total = math.fsum(one.log_probability for one in scored)
        n_pieces = sum(len(one.tokens) for one in scored)
        rows.append([f"model, after {name}", *perplexities(total, targets, n_pieces)])
    counts: Counter[int] = Counter()
    for ids in translator.target_tokenizer.encode_many([pair.target for pair in learned]):
        counts.update([*ids, EOS])
    whole = counts.total() + len(translator.target_tokenizer)  # each once more: none is impossible
    pieces = [
        id_ for ids in translator.target_tokenizer.encode_many(targets) for id_ in (*ids, EOS)
    ]
    total = math.fsum(math.log((counts[id_] + 1) / whole) for id_ in pieces)
    rows.append(["pieces by frequency", *perplexities(total, targets, len(pieces))])
    print_table(["held-out answers", "perplexity a word", "a piece"], rows)


def nearest(learned: list[Pair]) -> Callable[[str], str]:
    """The answer to the training question that is most like another, by its last turn."""
    questions = [Counter(words(split_turns(pair.source)[-1])) for pair in learned]
    often = Counter(word for question in questions for word in question)
    rarity = {word: math.log(len(questions) / n) for word, n in often.items()}
    places: dict[str, list[tuple[int, float]]] = {}
    for place, question in enumerate(questions):
        weights = {word: n * rarity[word] for word, n in question.items()}
        length = math.sqrt(math.fsum(value * value for value in weights.values())) or 1.0
        for word, value in weights.items():
            places.setdefault(word, []).append((place, value / length))

    def answer(source: str) -> str:
        scores: Counter[int] = Counter()
        for word, n in Counter(words(split_turns(source)[-1])).items():
            for place, value in places.get(word, ()):
                scores[place] += n * rarity[word] * value  # type: ignore[assignment]
        best = max(scores, key=lambda place: (scores[place], -place)) if scores else 0
        return learned[best].target

    return answer


def answers(translator: Translator, sources: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    for name, search in SEARCHES.items():
        found = translator.translate_each(sources, search)
        yield f"model, {name}", [best[0].text for best in found]
    for weight in INFORMATION:
        chosen = Reranking(weight=weight).best(translator, sources, Search(width=1, limits=LIMITS))
        yield f"best of 20 drawn, information {weight}", [best.text for best in chosen]


def judge_choice(translator: Translator, test: list[Pair]) -> None:
    """Whether what is ranked by is to the point: people's answer among those to others."""
    n = 10
    some = Random(2).sample(range(len(test)), min(100, len(test)))
    right: Counter[float] = Counter()
    for place in some:
        others = [test[(place + k * len(test) // n) % len(test)].target for k in range(n)]
        given = list(translator.score([(test[place].source, one) for one in others]))
        alone = list(translator.score([("", one) for one in others]))
        for weight in INFORMATION:
            worth = Reranking(weight=weight).worth
            worths = [worth(one, two) for one, two in zip(given, alone, strict=True)]
            right[weight] += max(range(n), key=worths.__getitem__) == 0
    rows = [[f"information {one}", f"{right[one]} of {len(some)}"] for one in INFORMATION]
    print_table([f"the people's answer of {n}", "found"], rows)


def judge_answers(translator: Translator, learned: list[Pair], test: list[Pair]) -> None:
    """How much answers differ from one another, and which of them comes again and again."""
    sources = [pair.source for pair in test]
    retrieve = nearest(learned)
    systems = [("people", [pair.target for pair in test])]
    systems.append(("nearest question", [retrieve(source) for source in sources]))
    systems += answers(translator, sources)
    known = {pair.target for pair in learned}
    rows = []
    for name, said in systems:
        cut = [words(one) for one in said]
        text, share = most_frequent(said)
        rows.append(
            [
                name,
                f"{100 * distinct(cut, 1):.2f} %",
                f"{100 * distinct(cut, 2):.2f} %",
                f"{sum(map(len, cut)) / len(cut):.1f}",
                f"{judge(said, systems[0][1]).chrf:.1f}",
                f"{100 * sum(one in known for one in said) / len(said):.1f} %",
                f"{100 * share:.1f} %: {text}",
            ]
        )
    head = ["answers", "distinct-1", "distinct-2", "words", "chrF", "known by heart"]
    head.append("the most frequent")
    print_table(head, rows)
    for pair in Random(1).sample(test, 5):
        best = next(iter(translator.translate_each([pair.source], SEARCHES["greedy"])))[0]
        print(f"{pair.source}\n    model:  {best.text}\n    people: {pair.target}")


def judge_smalltalk(translator: Translator) -> None:
    """The share of answers that are right to the letter, sums apart."""
    rows = []
    for part, n in (("test", 400), ("combinations", 200)):
        examples = list(islice(open_corpus("smalltalk").examples(part, SEED), n))
        found = translator.translate_each([one.source for one in examples], SEARCHES["greedy"])
        right: dict[str, list[bool]] = {"sums": [], "asked back": [], "other answers": []}
        for one, best in zip(examples, found, strict=True):
            is_sum = {"plus", "minus"} & set(one.tags) and "said" in one.tags
            kind = "sums" if is_sum else "asked back" if "recall" in one.tags else "other answers"
            right[kind].append(best[0].text == one.target)
        whole = [value for values in right.values() for value in values]
        for name, values in {"all": whole, **right}.items():
            share = f"{100 * sum(values) / len(values):.1f} %"
            rows.append([part, name, f"{sum(values)} of {len(values)}", share])
    print_table(["smalltalk", "answers", "right", "share"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    dealing = verbs.add_parser("split")
    dealing.add_argument("--data", type=Path, required=True)
    dealing.add_argument("--language", choices=list(FILES), default="en")
    dealing.add_argument("--out", type=Path, required=True)
    dealing.add_argument("--seed", type=int, default=1)
    judging = verbs.add_parser("judge")
    judging.add_argument("folder", type=Path, help="what `split` was given as --out")
    judging.add_argument("--on", choices=["valid", "test"], default="test")
    judging.add_argument("--most", type=int, help="answers that are judged; all of them")
    judging.add_argument("--threads", type=int, default=1)
    talking = verbs.add_parser("smalltalk")
    talking.add_argument("folder", type=Path, help="a model folder")
    talking.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    if given.verb == "split":
        deal_out(given.data, given.language, given.out, given.seed)
        return
    keep_heap()
    torch.set_num_threads(given.threads)
    print_facts(facts())
    if given.verb == "smalltalk":
        judge_smalltalk(Translator.open(given.folder))
        return
    translator = Translator.open(given.folder / "model")
    turns = translator.loaded.recipe.data.turns
    learned = pairs_in(given.folder / "train.txt", turns)
    held_out = pairs_in(given.folder / f"{given.on}.txt", turns)[: given.most]
    print(f"{len(learned):,} answers learned from, {len(held_out):,} of {given.on} judged")
    judge_probabilities(translator, learned, held_out)
    judge_choice(translator, held_out)
    judge_answers(translator, learned, held_out)


if __name__ == "__main__":
    main()
