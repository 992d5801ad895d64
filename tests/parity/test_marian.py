"""MarianMT and Pegasus of the library transformers: the same logits and translations, both ways."""

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import torch

from regard.config import Recipe, TextSection, TransformerSection
from regard.decoding import Limits, Search
from regard.folder import LoadedModel, save
from regard.special import BOS, EOS, UNKNOWN
from regard.systems import Translator, build, export_model, import_model, load
from regard.text import SentencePieceText

transformers = pytest.importorskip("transformers")

SENTENCES = [
    ("the dog runs over the green street", "der Hund rennt über die grüne Straße"),
    ("a woman reads a small book", "eine Frau liest ein kleines Buch"),
    ("two men play in the park today", "zwei Männer spielen heute im Park"),
    ("the child sleeps near the old house", "das Kind schläft nahe beim alten Haus"),
    ("people wait for the yellow train", "Leute warten auf den gelben Zug"),
]
ENGLISH, GERMAN = ([pair[i] for pair in SENTENCES] for i in (0, 1))
TOLERANCE = {"atol": 1e-4, "rtol": 1e-4}


def spm(path: Path, sentences: list[str], size: int) -> None:
    """A small sentencepiece model as Marian's are: unigram, special ids of its own."""
    with path.open("wb") as writer:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(sentences * 3),
            model_writer=writer,
            vocab_size=size,
            model_type="unigram",
            hard_vocab_limit=False,
            minloglevel=5,
        )


def pieces(path: Path) -> list[str]:
    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return [processor.id_to_piece(i) for i in range(processor.get_piece_size())]


def text_files(folder: Path, *, is_apart: bool) -> tuple[int, int, int]:
    """Write the text files of a folder; gives how many ids each side has, and that of <pad>."""
    spm(folder / "source.spm", ENGLISH, 60)
    spm(folder / "target.spm", GERMAN, 63)
    special = ["</s>", "<unk>"]
    sides = [[p for p in pieces(folder / f"{s}.spm") if p[0] != "<"] for s in ("source", "target")]
    if is_apart:
        tables = [[*special, "<pad>", *side] for side in sides]
    else:
        tables = [[*special, *sorted({*sides[0], *sides[1]}), "<pad>"]] * 2
    for name, tokens in zip(("vocab.json", "target_vocab.json"), tables, strict=True):
        (folder / name).write_text(json.dumps({token: i for i, token in enumerate(tokens)}))
    said = {"tokenizer_class": "MarianTokenizer", "separate_vocabs": is_apart}
    (folder / "tokenizer_config.json").write_text(json.dumps(said))
    return len(tables[0]), len(tables[1]), tables[1].index("<pad>")


def random_marian(folder: Path, **choices: Any) -> Any:
    """A Marian model of random weights, saved as transformers saves it."""
    folder.mkdir()
    is_shared = choices.get("share_encoder_decoder_embeddings", True)
    n_source, n_target, padding = text_files(folder, is_apart=not is_shared)
    kind = choices.pop("kind", "Marian")
    if kind == "Marian":
        choices["decoder_vocab_size"] = n_target
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=n_source,
        d_model=24,
        encoder_layers=2,
        decoder_layers=3,
        encoder_attention_heads=3,
        decoder_attention_heads=3,
        encoder_ffn_dim=40,
        decoder_ffn_dim=40,
        max_position_embeddings=64,
        pad_token_id=padding,
        eos_token_id=0,
        forced_eos_token_id=0,
        decoder_start_token_id=padding,
        init_std=0.3,
        **choices,
    )
    name = "MarianMTModel" if kind == "Marian" else "PegasusForConditionalGeneration"
    torch.manual_seed(3)
    model = getattr(transformers, name)(config).eval()
    for parameter in model.parameters():
        if parameter.dim() == 1:  # norms and biases begin as ones and zeros, which hide mistakes
            parameter.data += 0.2 * torch.randn_like(parameter)
    model.final_logits_bias.copy_(0.5 * torch.randn_like(model.final_logits_bias))
    model.final_logits_bias[0, :2] += torch.tensor([2.5, -9.0])  # sentences end, of known words
    model.generation_config.bad_words_ids = [[padding]]
    model.save_pretrained(folder)
    return model


def tokenizer_of(folder: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # recommends a package that nothing here needs
        return transformers.MarianTokenizer.from_pretrained(folder)


def logits_of(model: Any, tokenizer: Any) -> tuple[Any, torch.Tensor]:
    batch = tokenizer(ENGLISH, text_target=GERMAN, return_tensors="pt", padding=True)
    labels = batch.pop("labels")
    start = torch.full((len(labels), 1), model.config.decoder_start_token_id)
    with torch.no_grad():
        logits = model(**batch, decoder_input_ids=torch.cat([start, labels[:, :-1]], 1)).logits
    return labels, logits


def our_logits(loaded: LoadedModel) -> Iterator[tuple[list[int], torch.Tensor]]:
    """For each sentence its ids with <EOS>, and the logits of each."""
    for english, german in SENTENCES:
        source = torch.tensor([[*loaded.source_tokenizer.encode(english), EOS]])
        target = [*loaded.target_tokenizer.encode(german), EOS]
        with torch.no_grad():  # not around the yield: whoever takes it would have no gradients
            logits = loaded.model(source, torch.tensor([[BOS, *target[:-1]]]))[0]
        yield target, logits


CHOICES: list[dict[str, Any]] = [
    {},
    {"activation_function": "swish", "scale_embedding": True},
    {"activation_function": "relu", "share_encoder_decoder_embeddings": False},
    {"share_encoder_decoder_embeddings": False, "tie_word_embeddings": False},
    {"kind": "Pegasus", "scale_embedding": True, "activation_function": "swish"},
]


@pytest.fixture(
    scope="module",
    params=CHOICES,
    ids=lambda one: "-".join(map(str, one.values())) or "plain",
)
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Any, Any, LoadedModel]:
    folder = tmp_path_factory.mktemp("marian")
    theirs = random_marian(folder / "theirs", **request.param)
    loaded = import_model(folder / "theirs", folder / "ours")
    return theirs, tokenizer_of(folder / "theirs"), loaded


def test_imported_logits_are_theirs(pair: tuple[Any, Any, LoadedModel]) -> None:
    theirs, tokenizer, loaded = pair
    labels, logits = logits_of(theirs, tokenizer)
    tokens = tokenizer.target_encoder if tokenizer.separate_vocabs else tokenizer.encoder
    target = loaded.target_tokenizer
    words = range(4, len(target))
    theirs_of = [tokens[target.token(i)] for i in words]
    for row, (ids, own) in enumerate(our_logits(loaded)):
        read = tokenizer.convert_ids_to_tokens(labels[row][: len(ids)])
        assert [target.token(i) for i in ids] == read
        torch.testing.assert_close(
            own[:, words], logits[row, : len(ids)][:, theirs_of], **TOLERANCE
        )
        for ours, name in ((EOS, "</s>"), (UNKNOWN, "<unk>"), (BOS, "<pad>")):
            expected = logits[row, : len(ids), tokens[name]]
            torch.testing.assert_close(own[:, ours], expected, **TOLERANCE)
        # Nothing is taken from the words, nor given to them.
        torch.testing.assert_close(
            own.logsumexp(1), logits[row, : len(ids)].logsumexp(1), **TOLERANCE
        )


@pytest.mark.parametrize("width", [1, 4])
def test_imported_models_translate_the_same(pair: tuple[Any, Any, LoadedModel], width: int) -> None:
    theirs, tokenizer, loaded = pair
    translator = Translator.open(loaded.path)
    search = Search(width=width, alpha=0.0, limits=Limits(factor=0.0, extra=30))
    found = [one[0] for one in translator.translate_each(ENGLISH, search)]
    n_compared = 0
    for english, ours in zip(ENGLISH, found, strict=True):
        generated = theirs.generate(
            **tokenizer(english, return_tensors="pt"),
            num_beams=width,
            max_new_tokens=30,
            **({"length_penalty": 0.0, "early_stopping": "never"} if width > 1 else {}),
        )[0]
        expected = tokenizer.convert_ids_to_tokens(generated[1:])
        if width > 1 and len(expected) == 30:  # they do not count <EOS> at the limit, we do
            continue
        n_compared += 1
        assert [*ours.pieces, "</s>"] == expected
        assert ours.text == tokenizer.decode(generated, skip_special_tokens=True)
    assert n_compared


OURS: list[dict[str, Any]] = [
    {"norm": "post", "tie": "three-way"},
    {"norm": "pre", "tie": "three-way", "activation": "gelu"},
    {"norm": "pre", "tie": "two-way", "positions": "learned", "max_length": 40},
    {"norm": "post", "tie": "two-way", "activation": "silu", "has_output_bias": True},
    {"norm": "post", "tie": "none", "positions": "none", "scales_embeddings": False},
    {"norm": "post", "tie": "two-way", "is_joint": False},
]


def random_model(folder: Path, *, is_joint: bool = True, **choices: Any) -> LoadedModel:
    """A model folder of random weights."""
    torch.manual_seed(5)
    section = TransformerSection(
        n_layers=2, n_decoder_layers=3, d_model=24, n_heads=3, d_feedforward=40, **choices
    )
    english = SentencePieceText.train(ENGLISH + is_joint * GERMAN, 330, is_upper_limit=True)
    german = english if is_joint else SentencePieceText.train(GERMAN, 320, is_upper_limit=True)
    model = build(section, len(english), len(german))
    for parameter in model.parameters():
        parameter.data += 0.2 * torch.randn_like(parameter)
    if section.has_output_bias:
        model.output.bias.data[EOS] += 2.5  # sentences end
    recipe = Recipe(model=section, text=TextSection(is_joint=is_joint))
    return load(save(folder, model, recipe, english, german))


@pytest.mark.parametrize("choices", OURS, ids=lambda one: "-".join(map(str, one.values())))
def test_exported_models_are_the_same_there_and_back(
    tmp_path: Path, choices: dict[str, Any]
) -> None:
    loaded = random_model(tmp_path / "ours", **choices)
    folder = export_model(loaded, "huggingface", tmp_path / "theirs")
    theirs, report = transformers.AutoModelForSeq2SeqLM.from_pretrained(
        folder, output_loading_info=True
    )
    assert not report["missing_keys"] | report["unexpected_keys"] | report["mismatched_keys"]
    tokenizer = tokenizer_of(folder)
    labels, logits = logits_of(theirs, tokenizer)
    back = import_model(folder, tmp_path / "back")
    assert back.recipe.model.norm == choices["norm"]
    for row, ((ids, own), (ids_back, own_back)) in enumerate(
        zip(our_logits(loaded), our_logits(back), strict=True)
    ):
        assert ids == ids_back == labels[row][: len(ids)].tolist()
        torch.testing.assert_close(logits[row, : len(ids)], own, **TOLERANCE)
        torch.testing.assert_close(own_back, own, **TOLERANCE)


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_exported_models_translate_the_same(tmp_path: Path, norm: str, width: int) -> None:
    loaded = random_model(tmp_path / "ours", norm=norm, has_output_bias=True)
    folder = export_model(loaded, "huggingface", tmp_path / "theirs")
    theirs = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder)
    tokenizer = tokenizer_of(folder)
    search = Search(width=width, alpha=0.0, limits=Limits(factor=0.0, extra=20))
    found = Translator.open(loaded.path).translate_each(ENGLISH, search)
    for english, (best, *_) in zip(ENGLISH, found, strict=True):
        generated = theirs.generate(
            **tokenizer(english, return_tensors="pt"),
            num_beams=width,
            max_new_tokens=20,
            **({"length_penalty": 0.0, "early_stopping": "never"} if width > 1 else {}),
        )[0].tolist()
        assert generated == [BOS, *best.tokens, EOS]
        assert tokenizer.decode(generated, skip_special_tokens=True) == best.text
