"""How good a model of Multi30k becomes, and how soon: BLEU against minutes of training.

    $ python benchmarks/quality_multi30k.py --data DIR --out runs/multi30k --seeds 1 2 3 --test
    $ python benchmarks/quality_multi30k.py --data DIR --out runs/multi30k-cased --cased --test
    $ python benchmarks/quality_multi30k.py --data DIR --evaluate runs/multi30k/20-1 --test

DIR holds train, val and test_2016_flickr with the endings .en and .de, and in its folder
lowercased-tokenised the same as published: lower-cased and tokenised. By default the latter is
learned, and BLEU is sacrebleu's with tokenize="none" on that text after undoing sentencepiece,
which compares with published figures of multi-bleu.perl. With --cased it is the untouched text and
sacrebleu's own 13a.

Each of --minutes (10, 20 and 40) is a run of its own by `regard train transformer-small --minutes`,
with nothing set by hand: preparing the data and choosing the weights are within it. The length
penalty is chosen on validation data; the test set is only read with --test.
"""

from measuring import Data, options, print_judged, train_and_judge


def main() -> None:
    parser = options(__doc__, "en-de", (10, 20, 40))
    parser.add_argument("--cased", action="store_true", help="untokenised, cased text")
    given = parser.parse_args()
    folder = given.data if given.cased else given.data / "lowercased-tokenised"
    source, target = given.pair.split("-")

    def pair(name: str) -> str:
        return f"{folder}/{name}.{source}|{folder}/{name}.{target}"

    data = Data(
        pair("train"), pair("val"), pair("test_2016_flickr"), None if given.cased else "none"
    )
    judged = train_and_judge(given, data)
    text = "cased, untokenised" if given.cased else "lower-cased, tokenised as published"
    print_judged(judged, f"Multi30k {given.pair}, {text}, beam of {given.width}")


if __name__ == "__main__":
    main()
