"""How good a model of Multi30k becomes, and how soon: BLEU against minutes of training.

    $ python benchmarks/quality_multi30k.py --data DIR --out runs/multi30k --test
    $ python benchmarks/quality_multi30k.py --data DIR --out runs/multi30k-cased --cased --test
    $ python benchmarks/quality_multi30k.py --data DIR --evaluate runs/multi30k --test

DIR holds train, val and test_2016_flickr with the endings .en and .de, and in its folder
lowercased-tokenised the same as published: lower-cased and tokenised. By default the latter is
learned, with a joint vocabulary of 10,000, and BLEU is sacrebleu's with tokenize="none" on that
text after undoing sentencepiece, which compares with published figures of multi-bleu.perl. With
--cased it is the untouched text and sacrebleu's own 13a.

Minutes are those of training, validation and saving on the way included; preparing the data and
judging the marks at the end are not. All marks are of one run, whose schedule is made for its
whole length. Weights and length penalty of each mark are chosen on validation data; the test set
is only read with --test, once for each mark.
"""

from measuring import Data, options, print_judged, train_and_judge


def main() -> None:
    parser = options(__doc__, "en-de", "transformer-tiny", 75)
    parser.add_argument("--cased", action="store_true", help="untokenised, cased text")
    given = parser.parse_args()
    folder = given.data if given.cased else given.data / "lowercased-tokenised"
    source, target = given.pair.split("-")

    def pair(name: str) -> str:
        return f"{folder}/{name}.{source}|{folder}/{name}.{target}"

    data = Data(
        pair("train"), pair("val"), pair("test_2016_flickr"), None if given.cased else "none"
    )
    judged = train_and_judge(given, data, ["text.size=10000"])
    text = "cased, untokenised" if given.cased else "lower-cased, tokenised as published"
    print_judged(judged, f"Multi30k {given.pair}, {text}, beam of {given.width}")


if __name__ == "__main__":
    main()
