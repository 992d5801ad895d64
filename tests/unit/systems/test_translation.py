"""Text in, text out: in order, as it comes, with the same numbers whichever way they are found."""

from collections.abc import Iterator

import pytest
import torch

from regard.decoding import Limits, Sampling, Search
from regard.errors import TextTypeError, UsageError
from regard.systems import Request, Translator
from regard.systems.request import spellings
from regard.text import SentencePieceText, Words

SENTENCES = ["ein Hund", "", "eine Katze im Haus .", "   ", "Hund sieht Katze", "im"]
SHORT = Search(width=3, limits=Limits(most=7))


class TestTranslate:
    def test_every_sentence_has_its_place(self, folder) -> None:
        translator = Translator.open(folder())
        together = list(translator.translate_each(SENTENCES, SHORT, batch_rows=2))
        assert [len(found) for found in together] == [1] * len(SENTENCES)
        for sentence, (found,) in zip(SENTENCES, together, strict=True):
            (alone,) = next(translator.translate_each([sentence], SHORT))
            assert found.text == alone.text
            assert found.score == pytest.approx(alone.score, abs=1e-5)
            if not sentence.strip():
                assert (found.text, found.tokens, found.score) == ("", (), 0.0)
        assert len({found.text for (found,) in together}) > 2

    def test_pieces_are_those_of_the_text(self, folder) -> None:
        translator = Translator.open(folder())
        (found,) = next(translator.translate_each(["ein Hund"], SHORT))
        assert found.text == translator.target_tokenizer.decode(found.tokens)
        assert found.pieces == tuple(map(translator.target_tokenizer.token, found.tokens))

    def test_the_first_come_before_the_last_are_read(self, folder) -> None:
        read = []

        def sentences() -> Iterator[str]:
            for i in range(3000):
                read.append(i)
                yield "ein Hund"

        found = Translator.open(folder()).translate_each(sentences(), Search(width=1), batch_rows=8)
        next(found)
        assert len(read) < 3000
        found.close()  # type: ignore[attr-defined]

    def test_samples_do_not_depend_on_how_sentences_arrive(self, folder) -> None:
        translator = Translator.open(folder())
        search = Search(limits=Limits(most=7), sampling=Sampling(temperature=3.0), n_best=2)
        together = list(translator.translate_each(SENTENCES, search))
        apart = [
            found
            for first in (0, 3, 4)
            for found in translator.translate_each(
                SENTENCES[first : {0: 3, 3: 4, 4: 6}[first]], search, first=first
            )
        ]
        texts = [[one.text for one in found] for found in together]
        assert [[one.text for one in found] for found in apart] == texts
        other = list(translator.translate_each(SENTENCES, search, first=9))
        assert [[one.text for one in found] for found in other] != texts

    def test_n_best_are_sorted(self, folder) -> None:
        search = Search(width=4, n_best=3, limits=Limits(most=7))
        found = next(Translator.open(folder()).translate_each(["Hund sieht Katze"], search))
        assert len({one.text for one in found}) == 3
        assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)

    def test_a_prefix_is_kept(self, folder) -> None:
        request = Request("ein Hund", prefix="Katze im")
        (found,) = next(Translator.open(folder()).translate_each([request], SHORT))
        assert found.pieces[:2] == ("Katze", "im")

    def test_what_must_be_there_is_there(self, folder) -> None:
        request = Request("ein Hund", must=("Katze im", "Haus"))
        (found,) = next(Translator.open(folder()).translate_each([request], SHORT))
        assert "Katze im" in found.text
        assert "Haus" in found.text

    def test_unknown_words_cannot_be_asked_for(self, folder) -> None:
        with pytest.raises(UsageError) as refused:
            next(Translator.open(folder()).translate_each([Request("ein", must=("Maus",))], SHORT))
        assert str(refused.value) == (
            "the translation cannot be made to contain 'Maus': the model's vocabulary has no "
            "tokens for it"
        )


class TestLongSentences:
    def test_are_cut_and_say_so(self, folder) -> None:
        translator = Translator.open(folder(), max_tokens=5)
        long, short = translator.translate_each(["ein Hund sieht eine Katze im Haus", "ein"], SHORT)
        (cut,) = next(translator.translate_each(["ein Hund sieht eine Katze"], SHORT))
        assert (long[0].n_left_out, short[0].n_left_out) == (2, 0)
        assert long[0].text == cut.text

    def test_learned_positions_end_somewhere(self, folder) -> None:
        translator = Translator.open(folder(positions="learned", max_length=9))
        assert translator.limit == 8  # and <EOS>
        (found,) = next(
            translator.translate_each(["Hund " * 20], Search(limits=Limits(factor=9.0)))
        )
        assert found.n_left_out == 12
        assert len(found.tokens) < 9
        (long,) = next(translator.translate_each(["Hund"], Search(limits=Limits(least=20))))
        assert len(long.tokens) == 8  # the least length yields to the places
        (scored,) = translator.score([("Hund " * 20, "Katze " * 30)])
        assert (len(scored.tokens), scored.n_left_out) == (9, 12 + 22)


class TestScore:
    @pytest.mark.parametrize("n_models", [1, 2])
    def test_is_what_the_search_found(self, folder, n_models: int) -> None:
        paths = [folder(f"model-{i}", seed=i) for i in range(n_models)]
        translator = Translator.open(paths)
        search = Search(width=4, n_best=3, limits=Limits(most=7))
        sentences = [sentence for sentence in SENTENCES if sentence.strip()]
        for sentence, found in zip(
            sentences, translator.translate_each(sentences, search), strict=True
        ):
            scored = translator.score_translations([(sentence, one.tokens) for one in found])
            for one, value in zip(found, scored, strict=True):
                assert value.log_probability == pytest.approx(one.log_probability, abs=1e-5)
                assert value.tokens == (*one.tokens, 3)

    def test_is_what_the_model_says(self, folder) -> None:
        translator = Translator.open(folder())
        pairs = [("ein Hund", "Katze im Haus"), ("", "ein"), ("Hund . ein", ""), ("ein", "机 器 .")]
        model, words = translator.models[0], translator.source_tokenizer
        scored = list(translator.score(pairs))
        for (source, target), found in zip(pairs, scored, strict=True):
            ids = words.encode(target)
            with torch.no_grad():
                logits = model(
                    torch.tensor([[*words.encode(source), 3]]), torch.tensor([[2, *ids]])
                )
            expected = logits[0].log_softmax(-1)[torch.arange(len(ids) + 1), [*ids, 3]]
            assert found.log_probabilities == pytest.approx(expected.tolist(), abs=1e-5)
            assert found.pieces == (*(words.token(i) for i in ids), "</s>")
            assert found.log_probability == pytest.approx(float(expected.sum()), abs=1e-5)
            assert found.per_token == pytest.approx(float(expected.mean()), abs=1e-5)

    def test_order_and_batches_change_nothing(self, folder, monkeypatch) -> None:
        translator = Translator.open(folder())
        pairs = [(f"{'ein ' * (7 * i % 5)}Hund", "Katze " * (5 * i % 7)) for i in range(23)]
        together = [one.log_probability for one in translator.score(pairs)]
        monkeypatch.setattr("regard.systems.scoring._BATCH_TOKENS", 9)
        monkeypatch.setattr("regard.systems.scoring._ROWS", 2)
        assert [one.log_probability for one in translator.score(pairs)] == pytest.approx(together)

    def test_an_ensemble_takes_the_mean_of_probabilities(self, folder) -> None:
        paths = [folder(f"model-{i}", seed=i) for i in range(2)]
        pair = [("ein Hund", "")]
        apart = [next(Translator.open(path).score(pair)).log_probability for path in paths]
        both = next(Translator.open(paths).score(pair)).log_probability
        assert both == pytest.approx(torch.tensor(apart).exp().mean().log().item(), abs=1e-5)
        assert apart[0] != pytest.approx(apart[1], abs=1e-2)


class TestOpening:
    def test_models_that_vote_share_a_vocabulary(self, folder) -> None:
        first = folder()
        other = folder("other", tokenizer=Words(["nur", "zwei"]))
        with pytest.raises(UsageError) as refused:
            Translator.open([first, other])
        assert str(refused.value) == (
            f"{other} cannot vote with {first}: its source vocabulary is another; the models of an "
            "ensemble are trained with the same vocabulary"
        )

    def test_nothing_is_not_a_model(self, folder) -> None:
        with pytest.raises(UsageError) as nothing:
            Translator.open([])
        assert str(nothing.value) == (
            "there is no model to translate with: give at least one folder"
        )
        with pytest.raises(UsageError) as too_short:
            Translator.open(folder(), max_tokens=0)
        assert str(too_short.value) == "max_tokens = 0 is not possible: give 1 or more"


class TestSpellings:
    @pytest.fixture
    def pieces(self) -> SentencePieceText:
        text = ["我们学习机器学习。", "machine learning is fun", "我们喜欢学习", "机器很好"] * 20
        return SentencePieceText.train(text, 400, is_upper_limit=True)

    def test_of_chinese_words_include_one_without_a_space(self, pieces: SentencePieceText) -> None:
        first, inside = spellings(pieces, "机器")
        assert pieces.token(first[0]).startswith("▁")
        assert "".join(map(pieces.token, inside)) == "机器"

    def test_of_english_words_is_one(self, pieces: SentencePieceText) -> None:
        (only,) = spellings(pieces, "machine learning")
        assert "".join(map(pieces.token, only)) == "▁machine▁learning"


@pytest.mark.usefixtures("as_users_call")
class TestWhatIsGiven:
    """A str is one text; anything else that is no text is named by its place."""

    def test_one_sentence_has_one_answer(self, folder) -> None:
        translator = Translator.open(folder())
        search = Search(width=3, n_best=2, limits=Limits(most=7))
        best, other = next(translator.translate_each(["Hund sieht Katze"], search))
        alone = translator.translate("Hund sieht Katze", beam=3, n_best=2, max_length=7)
        assert (alone.text, alone.others) == (best.text, (other,))
        for several in ([Request("Hund sieht Katze")], iter(["Hund sieht Katze"])):
            assert translator.translate(several, beam=3, n_best=2, max_length=7) == [alone]
        assert translator.translate(["Hund sieht Katze"], beam=3, max_length=7)[0].others == ()
        assert translator.translate("").text == ""
        assert [one.text for one in translator.translate(["", " "])] == ["", ""]

    def test_options_are_those_of_a_search(self, folder) -> None:
        translator = Translator.open(folder())
        drawn = Search(sampling=Sampling(temperature=2.0, seed=5), limits=Limits(most=7))
        expected = next(translator.translate_each(["Hund sieht Katze"], drawn))[0]
        options = {"temperature": 2.0, "seed": 5, "max_length": 7}
        assert translator.translate("Hund sieht Katze", **options) == expected
        with pytest.raises(UsageError, match=r"seed .*sample=True"):
            translator.translate("ein Hund", seed=3, sample=False)
        with pytest.raises(UsageError, match=r"no option width: .*beam"):
            translator.translate("ein Hund", width=3)

    def test_chinese_is_not_translated_character_by_character(self, folder) -> None:
        translator = Translator.open(folder())
        assert translator.translate("机器") == translator.translate(["机器"])[0]

    def test_what_is_no_text_is_named(self, folder) -> None:
        translator = Translator.open(folder())
        for call in (
            translator.translate,
            translator.translate_each,
            translator.translate_as_found,
        ):
            with pytest.raises(TextTypeError, match=r"sentences\[1\] is None"):
                list(call(["ein Hund", None]))
            with pytest.raises(TextTypeError, match=r"sentences is None"):
                list(call(None))
        for call in (translator.translate_each, translator.translate_as_found):
            with pytest.raises(TextTypeError, match="sentences is a single str"):
                list(call("ein Hund"))

    def test_pairs_are_pairs(self, folder) -> None:
        translator = Translator.open(folder())
        for call in (translator.score, translator.align_many):
            with pytest.raises(TextTypeError, match=r"pairs\[0\] is a str"):
                list(call(("ab", "cd")))
        with pytest.raises(TextTypeError, match="target is None"):
            translator.align("ein Hund", None)  # type: ignore[arg-type]
        with pytest.raises(TextTypeError, match=r"pairs\[0\]\[0\] is None"):
            translator.score_translations([(None, ())])  # type: ignore[list-item]

    def test_requests_are_of_texts(self) -> None:
        with pytest.raises(TextTypeError, match="must is a single str"):
            Request("ein Hund", must="Katze")  # type: ignore[arg-type]
        with pytest.raises(TextTypeError, match="source is None"):
            Request(None)  # type: ignore[arg-type]
        assert Request("ein Hund", must=["Katze"]).must == ("Katze",)  # type: ignore[arg-type]
