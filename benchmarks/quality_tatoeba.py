"""How good a model of Tatoeba's Chinese and English becomes: BLEU, chrF, and 20 sentences to read.

    $ python benchmarks/quality_tatoeba.py --data DIR --pair zh-en --out runs/zh-en --test
    $ python benchmarks/quality_tatoeba.py --data DIR --pair en-zh --out runs/en-zh --test
    $ python benchmarks/quality_tatoeba.py --data DIR --pair zh-en --evaluate runs/zh-en/20-1 --test

DIR holds train, val and test with the endings .zh and .en. BLEU is sacrebleu's, with 13a for
English and zh for Chinese references. Minutes, seeds and --test are as in quality_multi30k.py;
the sentences shown are of the test set with --test, else of the validation set.
"""

from pathlib import Path

from measuring import Data, options, print_judged, train_and_judge, translate

from regard.data import read_corpus
from regard.systems import load

_N_SHOWN = 20


def main() -> None:
    given = options(__doc__, "zh-en", (20, 40)).parse_args()
    source, target = given.pair.split("-")

    def pair(name: str) -> str:
        return f"{given.data}/{name}.{source}|{given.data}/{name}.{target}"

    data = Data(pair("train"), pair("val"), pair("test"), None)
    judged = train_and_judge(given, data)
    print_judged(judged, f"Tatoeba {given.pair}, beam of {given.width}")
    files = data.test if given.test else data.valid
    _show(given.evaluate or given.out / judged[-1].run, files, given.width, judged[-1].alpha)


def _show(folder: Path, files: str, width: int, alpha: float) -> None:
    """Sentences taken evenly over the set, the same every time: nobody picks the good ones."""
    pairs = list(read_corpus([files]))
    shown = pairs[:: max(1, len(pairs) // _N_SHOWN)][:_N_SHOWN]
    outputs = translate(load(folder), [pair.source for pair in shown], width=width, alpha=alpha)
    for pair, output in zip(shown, outputs, strict=True):
        print(f"\nsource     {pair.source}\nregard     {output}\nreference  {pair.target}")


if __name__ == "__main__":
    main()
