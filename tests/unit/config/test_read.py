"""Recipes are read whole, or refused in one sentence that says what to write instead."""

from pathlib import Path

import pytest

from regard.config import NETWORKS, parse_recipe, preset_names, presets, read_recipe, write_recipe
from regard.config.networks import TransformerSection
from regard.errors import RecipeError


def refusal(name: str | Path, *overrides: str) -> str:
    with pytest.raises(RecipeError) as caught:
        read_recipe(name, overrides)
    return str(caught.value)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path("my.toml")


def test_a_preset_is_found_by_name() -> None:
    recipe = read_recipe("transformer-small")
    assert recipe.name == "transformer-small"
    assert (recipe.model.n_layers, recipe.model.d_model) == (4, 192)


def test_a_file_extends_a_preset(file: Path) -> None:
    file.write_text('extends = "transformer-small"\n[model]\nn_layers = 5\n')
    recipe = read_recipe("my.toml")
    assert (recipe.model.n_layers, recipe.model.d_model) == (5, 192)
    assert (recipe.name, recipe.purpose) == ("my", "")


@pytest.mark.parametrize(
    ("changes", "shape"),
    [
        ([], (4, 2)),
        (["model.n_layers=6"], (6, 6)),
        (["model.n_decoder_layers=1"], (4, 1)),
        (["model.n_decoder_layers=3", "model.n_layers=6"], (6, 3)),
    ],
)
def test_a_number_of_layers_alone_is_of_both_sides(
    file: Path, changes: list[str], shape: tuple[int, int]
) -> None:
    keys = "".join(f"{change}\n" for change in changes)
    file.write_text(f'extends = "transformer-small"\n{keys}')
    for recipe in (read_recipe("transformer-small", changes), read_recipe("my.toml")):
        assert isinstance(recipe.model, TransformerSection)
        assert (recipe.model.stacks["encoder"], recipe.model.stacks["decoder"]) == shape


def test_a_file_extends_a_file_beside_itself(file: Path) -> None:
    Path("deep").mkdir()
    Path("deep/base.toml").write_text('extends = "transformer-tiny"\ntext.kind = "words"\n')
    Path("deep/own.toml").write_text('extends = "base.toml"\nname = "mine"\nmodel.n_heads = 2\n')
    recipe = read_recipe(Path("deep/own.toml"))
    assert (recipe.text.kind, recipe.model.n_heads, recipe.model.d_model) == ("words", 2, 128)
    assert recipe.name == "mine"


def test_a_byte_order_mark_does_no_harm(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbfmodel.n_layers = 2\n")
    assert read_recipe("my.toml").model.n_layers == 2


@pytest.mark.parametrize(
    ("override", "value"),
    [
        ("training.learning_rate=3e-4", 3e-4),
        ("training.learning_rate = auto", "auto"),
        ("training.weight_decay=1", 1.0),
        ("training.betas=[0.8, 0.9]", (0.8, 0.9)),
        ("training.compile=true", True),
        ("training.patience=none", None),
        ("training.clip='none'", None),
        ("training.schedule=cosine", "cosine"),
        ("data.train=a=b.tsv", ("a=b.tsv",)),
        ('data.train=["a.tsv", "b.tsv"]', ("a.tsv", "b.tsv")),
        ("model.tie=none", "none"),
        ("name=7up", "7up"),
    ],
)
def test_overrides_are_toml_and_bare_text(override: str, value: object) -> None:
    recipe = read_recipe("transformer-tiny", [override])
    for key in override.partition("=")[0].strip().split("."):
        recipe = getattr(recipe, key)
    assert recipe == value


def test_the_last_override_wins() -> None:
    recipe = read_recipe("transformer-tiny", ["model.n_layers=2", "model={n_layers=7}"])
    assert recipe.model.n_layers == 7
    assert recipe.model.d_model == 128


@pytest.mark.parametrize(
    ("override", "sentence"),
    [
        ("model.n_layer=4", "there is no model.n_layer; did you mean model.n_layers?"),
        ("n_layers=4", "there is no n_layers; did you mean model.n_layers?"),
        ("training.dropout=0.2", "there is no training.dropout; did you mean model.dropout?"),
        ("trainig.seed=2", "there is no trainig.seed; did you mean training.seed?"),
        (
            "text.zzz=3",
            "there is no text.zzz; text has kind, algorithm, size, is_joint, has_byte_fallback, "
            "is_lowercase",
        ),
        ("zzz=3", "there is no zzz; a recipe has name, purpose, model, text, data, training"),
        ("model=3", "model = 3: model is a section, its values are set one by one, as model.kind"),
        (
            "model.n_layers",
            "'model.n_layers' changes nothing: write it as key=value, as in model.n_layers=4",
        ),
        ("=3", "'=3' changes nothing: write it as key=value, as in model.n_layers=4"),
        (
            "model.n_layers=0",
            "model.n_layers = 0 is not possible: give a whole number "
            "of at least 1 and of at most 1000",
        ),
        (
            "model.n_layers=true",
            "model.n_layers = true is not possible: give a whole number "
            "of at least 1 and of at most 1000",
        ),
        (
            "model.n_layers='4'",
            "model.n_layers = '4' is not possible: give a whole number "
            "of at least 1 and of at most 1000",
        ),
        (
            "training.updates=8e3",
            "training.updates = 8000.0 is not possible: give a whole number of at least 1 and of "
            "at most 1000000000 or "
            "'auto'",
        ),
        (
            "model.dropout=1.2",
            "model.dropout = 1.2 is not possible: give a number of at least 0.0 and below 1.0 or "
            "'auto'",
        ),
        (
            "training.minutes=0",
            "training.minutes = 0 is not possible: give a number above 0 or 'none'",
        ),
        (
            "training.learning_rate=inf",
            "training.learning_rate = inf is not possible: give a number above 0 or 'auto'",
        ),
        ("model.norm=before", "model.norm = 'before' is not possible: give 'pre' or 'post'"),
        ("training.compile=True", "training.compile = 'True' is not possible: give true or false"),
        (
            "training.betas=[0.9]",
            "training.betas = [0.9] is not possible: give a list of 2, each a number of at least "
            "0.0 and below 1.0",
        ),
        ("data.train=3", "data.train = 3 is not possible: give a list, each text"),
        ("purpose=3", "purpose = 3 is not possible: give text"),
        (
            "model.d_model=255",
            "model: d_model = 255 cannot be divided among n_heads = 4: choose a width that is a "
            "multiple of the number of heads",
        ),
    ],
)
def test_what_is_refused_of_an_override(override: str, sentence: str) -> None:
    assert refusal("transformer-small", override) == sentence


def test_long_values_are_cut() -> None:
    assert f"= '{'x' * 56}... is" in refusal("transformer-small", f"model.norm={'x' * 500}")


@pytest.mark.parametrize(
    "key",
    [
        *("n_layers", "n_decoder_layers", "d_model", "n_heads", "d_feedforward", "max_length"),
        *("training.updates", "training.seed", "training.batch_tokens", "data.max_length"),
    ],
)
def test_sizes_have_bounds(key: str) -> None:
    key = key if "." in key else f"model.{key}"
    for size in ("100000000", "9" * 30) if key.startswith("model.") else ("9" * 30,):
        with pytest.raises(RecipeError, match=key):
            read_recipe("transformer-tiny", [f"{key}={size}"])


def test_a_number_of_5000_digits_is_refused() -> None:
    with pytest.raises(RecipeError, match=r"my\.toml, line 1 is not TOML"):
        parse_recipe(f"name = {'9' * 5_000}", "my.toml")
    with pytest.raises(RecipeError, match=r"model\.n_layers"):
        read_recipe("transformer-tiny", [f"model.n_layers={'9' * 5_000}"])


def test_several_mistakes_are_counted() -> None:
    sentence = refusal("transformer-tiny", "model.n_layers=0", "training.seed=x", "text.size=-1")
    assert sentence == (
        "model.n_layers = 0 is not possible: give a whole number "
        "of at least 1 and of at most 1000 (and 2 more)"
    )
    sentence = refusal("transformer-tiny", "model.zz=0", "training.zz=1")
    assert sentence.endswith("fixed_heads (and 1 more)")


@pytest.mark.parametrize(
    ("name", "changes", "sentence"),
    [
        (
            "bahdanau",
            ["model.reach=4"],
            "model: reach = 4 is for a window, and normaliser = soft looks everywhere: choose "
            "local-m or local-p, or leave reach out",
        ),
        (
            "bahdanau",
            ["model.score=cosine"],
            "model.score = 'cosine' is not possible: give 'dot', 'scaled-dot', 'additive', "
            "'general', 'concatenating', 'perceptron', 'content' or 'location'",
        ),
        (
            "luong",
            ["model.tie=two-way", "model.d_hidden=512"],
            "model: tie = two-way makes the output compare with embeddings, which are 256 wide, "
            'and d_hidden = 512: make them equal, or set tie = "none"',
        ),
        (
            "universal",
            ["model.n_steps=1"],
            "model: is_adaptive = true has nothing to decide in 1 step: allow 2 or more in n_steps "
            "and n_decoder_steps, or set is_adaptive = false",
        ),
        (
            "universal",
            ["model.is_adaptive=false", "model.ponder=0.5"],
            "model: ponder = 0.5 is of words that decide when to halt, and is_adaptive = false "
            "lets none: leave it out, or set is_adaptive = true",
        ),
        (
            "transformer-tiny",
            ["text.is_joint=false"],
            "model.tie = three-way shares one table between source and target, and text.is_joint "
            "= false gives each a vocabulary of its own: set model.tie = two-way, or "
            "text.is_joint = true",
        ),
        (
            "universal",
            ["model.n_heads=3"],
            "model: d_model = 256 cannot be divided among n_heads = 3: choose a width that is a "
            "multiple of the number of heads",
        ),
        (
            "convolutional",
            ["model.kernel_width=4"],
            "model: kernel_width = 4 has no middle, and as many words before as after are seen: "
            "choose 3, 5, 7, ...",
        ),
        (
            "luong",
            ["model.encoder_cell=gru"],
            "model: encoder_cell = gru does not remember what cell = lstm goes on from: choose "
            "lstm or lstmn to read for lstm, and gru for gru",
        ),
        (
            "ntm",
            ["model.addressing=content", "model.reach=2"],
            "model: reach = 2 is of shifts, and addressing = content has none: choose full, or "
            "leave reach out",
        ),
        (
            "ntm",
            ["model.n_slots=2"],
            "model: shifts by 1 to each side need more than n_slots = 2: choose more slots or less "
            "reach",
        ),
        (
            "bahdanau",
            ["training.compile=true"],
            "training.compile = true is made for model.kind = transformer, not bahdanau: leave "
            "it out",
        ),
    ],
)
def test_what_cannot_be_built_is_refused_when_it_is_read(
    name: str, changes: list[str], sentence: str
) -> None:
    assert refusal(name, *changes) == sentence


def test_keys_and_kinds_of_networks_are_named() -> None:
    other, own = refusal("sutskever", "model.score=dot").split(";")
    assert "no model.score in a model of kind sutskever" in other
    assert all(kind in other for kind in ("bahdanau", "luong"))
    assert all(key in own for key in ("d_embedding", "n_layers", "reverses_source"))
    sentence = refusal("sutskever", "model.kind=rnn")
    assert sentence.startswith("model.kind = 'rnn' is not possible")
    assert all(repr(kind) in sentence for kind in NETWORKS)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("model.n_layer = 4", "there is no model.n_layer; did you mean model.n_layers? in my.toml"),
        (
            "model.n_layers = 0",
            "model.n_layers = 0 in my.toml is not possible: give a whole number "
            "of at least 1 and of at most 1000",
        ),
        (
            "model.d_model = 9\nmodel.n_heads = 3",
            "model in my.toml: d_model = 9 is odd, and sinusoidal positions pair a sine with a "
            "cosine: choose an even width",
        ),
        ("\n[model]\nn_layers 3\n", "my.toml, line 3 is not TOML: Expected '=' after a key in a"),
        ("name = 'x", 'my.toml, line 1 is not TOML: Expected "\'"'),
        ("a = 1\na = 2", "my.toml, line 2 is not TOML: Cannot overwrite a value"),
        ("extends = 3", "extends = 3 in my.toml is not possible: give the name of a preset, or of"),
        ("extends = 'transformer-bas'", "there is no preset 'transformer-bas'; did you mean"),
        ("extends = 'other.toml'", "there is no recipe file other.toml: give the path of one, or"),
        ("extends = 'my.toml'", "my.toml extends itself (my.toml -> my.toml): take one extends"),
    ],
)
def test_what_is_refused_of_a_file(file: Path, text: str, sentence: str) -> None:
    file.write_text(text)
    assert refusal("my.toml").startswith(sentence)


def test_what_is_given_by_hand_is_not_blamed_on_the_file(file: Path) -> None:
    file.write_text("model.n_layers = 3\nmodel.d_model = 255\n")
    assert "my.toml" not in refusal("my.toml", "model.n_layers=0", "model.d_model=256")
    assert "my.toml" in refusal("my.toml", "training.seed=3")


def test_unknown_presets_and_files(tmp_path: Path) -> None:
    everything = f"presets are {', '.join(sorted(preset_names()))}; a recipe of your own is a file"
    close = refusal("transformer-smal")
    assert "'transformer-smal'; did you mean transformer-small?" in close
    assert everything in close
    assert f"there is no preset 'qqq'; the {everything}" in refusal("qqq")
    assert refusal("no/such.toml") == (
        "there is no recipe file no/such.toml: give the path of one, or the name of a preset "
        "(`regard recipes` lists them)"
    )
    assert refusal(tmp_path) == (
        f"{tmp_path} is a folder: give a recipe file, whose name ends in .toml"
    )


def test_a_file_in_another_encoding(file: Path) -> None:
    file.write_bytes("purpose = 'Übung'".encode("latin-1"))
    assert refusal("my.toml") == (
        "my.toml is not UTF-8 text (byte 11 is in the way): save it as UTF-8"
    )


def test_presets_come_in_the_order_of_their_size() -> None:
    names = [recipe.name for recipe in presets()]
    sizes = [f"transformer-{size}" for size in ("tiny", "fast", "small", "base", "big")]
    family = ["universal", "sutskever", "bahdanau", "luong", "ntm", "convolutional"]
    alone = ["gpt-tiny", "gpt-small", "bert-tiny", "bert-small", "bert-classify", "bert-tag"]
    alone += ["parser", "sagan", "ram"]
    captions = ["caption-hard", "caption-soft", "caption-photos"]
    ours = ["summary", "dialogue-small", "summary-long"]
    special = ["dates", "dialogue", "phrasebook", *ours, *captions]
    assert names == [*sizes, *family, *alone, *special]
    assert sorted(names) == list(preset_names())
    assert all(recipe.purpose for recipe in presets())


def test_nothing_is_written_none_where_nothing_is_usual() -> None:
    text = write_recipe(read_recipe("transformer-tiny", ["training.clip=none"]))
    assert 'clip = "none"' in text
    assert "minutes" not in text
    assert parse_recipe(text).training.clip is None


@pytest.mark.parametrize("change", ["training.shard=true", "training.decodes_at_validation=false"])
def test_what_is_measured_must_be_there(change: str) -> None:
    with pytest.raises(RecipeError, match="measure = bleu needs translations"):
        read_recipe("transformer-tiny", ["training.measure=bleu", change])


@pytest.mark.parametrize("name", ["luong", "bahdanau"])
@pytest.mark.parametrize("normaliser", ["local-m", "local-p"])
def test_a_window_reaches_as_far_as_in_the_paper_unless_told(name: str, normaliser: str) -> None:
    chosen = f"model.normaliser={normaliser}"
    recipe = read_recipe(name, [chosen])
    assert recipe.model.reach == 10  # Luong et al. 2015: D = 10
    assert read_recipe(name, [chosen, "model.reach=3"]).model.reach == 3
    assert parse_recipe(write_recipe(recipe)) == recipe
    assert read_recipe(name).model.reach is None


def test_a_key_of_other_models_names_them() -> None:
    sentence = refusal("bahdanau", "model.encoder_cell=lstmn")
    assert "bahdanau" in sentence
    assert "it is for sutskever and luong" in sentence
    for name in ("sutskever", "luong"):
        assert read_recipe(name, ["model.encoder_cell=lstmn"]).model.encoder_cell == "lstmn"
