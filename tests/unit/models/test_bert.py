"""BERT: the same as torch's layers, packed as padded, and it finds words from both sides."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.data import Batch
from regard.engine import for_training
from regard.errors import SizeError
from regard.inspection.recording import at, record
from regard.models import Sizes
from regard.models.bert import Bert
from regard.special import BOS, EOS, PAD
from regard.systems.masking import Masking
from regard.training.tasks import Task

V, D, H, INNER, LAYERS, CONTEXT = 13, 32, 2, 24, 3, 9
NONE = {f"{part}dropout": 0.0 for part in ("", "attention_", "feedforward_", "embedding_")}
SIZES = Sizes(D, H, INNER, activation="gelu", **NONE)
IDS = torch.tensor([[BOS, 6, 7, 8, 9, 4, EOS], [BOS, 11, 12, 4, EOS, PAD, PAD]])
TYPES = torch.tensor([[0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 1, 0, 0]])


def tiny(**choices: object) -> Bert:
    torch.manual_seed(2)
    return Bert(V, SIZES, n_layers=LAYERS, context=CONTEXT, **choices).eval()


def plain(model: Bert, ids: Tensor, types: Tensor) -> Tensor:
    """The same network by torch's own layers."""
    layer = nn.TransformerEncoderLayer(D, H, INNER, 0.0, "gelu", batch_first=True)
    stack = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False).double()
    theirs, ours = stack.state_dict(), model.double().state_dict()
    for i in range(LAYERS):
        here, there = f"encoder.layers.{i}.", f"layers.{i}."
        attention = [f"{here}attention.{one}." for one in ("query", "key", "value")]
        for kind in ("weight", "bias"):
            joined = torch.cat([ours[name + kind] for name in attention])
            theirs[f"{there}self_attn.in_proj_{kind}"] = joined
            for a, b in (
                ("attention.output", "self_attn.out_proj"),
                ("feedforward.widen", "linear1"),
                ("feedforward.narrow", "linear2"),
                ("around_attention.norm", "norm1"),
                ("around_feedforward.norm", "norm2"),
            ):
                theirs[f"{there}{b}.{kind}"] = ours[f"{here}{a}.{kind}"]
    stack.load_state_dict(theirs)
    table = ours["encoder.embedding.weight"]
    words = table[ids] + ours["encoder.embedding.positions.table"][: ids.shape[1]]
    words = words + ours["embedding.types.weight"][types]
    norm = [ours["embedding.norm.weight"], ours["embedding.norm.bias"]]
    hidden = stack(F.layer_norm(words, (D,), *norm), src_key_padding_mask=ids == PAD)
    inner = F.gelu(hidden @ ours["transform.weight"].t() + ours["transform.bias"])
    norm = [ours["transform_norm.weight"], ours["transform_norm.bias"]]
    return F.layer_norm(inner, (D,), *norm) @ table.t() + ours["output.bias"]


def test_it_computes_what_torchs_layers_compute() -> None:
    model = tiny(n_types=2)
    nn.init.normal_(model.output.bias)
    logits = model.double()(IDS, TYPES)
    expected, is_real = plain(model, IDS, TYPES), IDS != PAD
    torch.testing.assert_close(logits[is_real], expected[is_real], rtol=1e-9, atol=1e-9)
    assert logits.shape == (2, 7, V + 1)  # the mask has a vector too


@pytest.mark.parametrize("n_types", [0, 2])
def test_packed_rows_are_padded_rows(n_types: int) -> None:
    chosen = torch.zeros_like(IDS, dtype=torch.bool)
    chosen[0, 2] = chosen[1, 3] = chosen[0, 5] = True
    types = TYPES if n_types else None
    gradients = []
    for packs in (True, False):
        model = tiny(n_types=n_types).train()
        hidden = (for_training(model) if packs else model).predict(IDS, chosen, types).hidden
        assert hidden.shape == (3, D)
        (hidden * torch.linspace(-1, 1, D)).sum().backward()
        found = {name: p.grad for name, p in model.named_parameters() if p.grad is not None}
        gradients.append((hidden.detach(), found))
    (one, ours), (other, theirs) = gradients
    torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)
    assert ours.keys() == theirs.keys()
    for name, gradient in ours.items():
        torch.testing.assert_close(gradient, theirs[name], rtol=1e-4, atol=1e-4, msg=name)


def test_padding_changes_nothing() -> None:
    model = tiny()
    alone = model(IDS[1:, :5])
    torch.testing.assert_close(alone, model(IDS)[1:, :5], rtol=1e-5, atol=1e-5)


def test_every_word_sees_both_sides() -> None:
    model, changed = tiny(), IDS.clone()
    changed[0, 5] = 10
    assert not torch.allclose(model.hidden(IDS)[0, 1], model.hidden(changed)[0, 1])


def test_its_places_are_where_it_attends() -> None:
    model = tiny()
    with record(model, *(site.probe for site in model.sites)) as recording:
        model(IDS)
    assert [site.name for site in model.sites] == ["encoder.0", "encoder.1", "encoder.2"]
    weights = at(recording, model.sites[2])
    assert weights.shape == (2, H, 7, 7)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, H, 7))
    assert float(weights[1, :, :, 5:].max()) == 0.0


def test_segments_it_does_not_know_are_refused() -> None:
    with pytest.raises(SizeError, match="knows no segments: leave the types out, or train with"):
        tiny()(IDS, TYPES)


def test_words_taken_out_are_found_again() -> None:
    """Of two texts that share no word: what is missing follows from what stands on either side."""
    rows = [[BOS, a, a + 1, a + 2, a + 3, EOS] for a in (4, 8)]
    batch = Batch(torch.tensor(rows * 8), torch.empty(16, 0, dtype=torch.long))
    sizes = Sizes(D, H, INNER, is_pre_norm=True, **NONE)
    model = Bert(V, sizes, n_layers=1, context=CONTEXT).train()
    task = Masking(V, share=0.3)
    assert isinstance(task, Task)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(60):
        optimiser.zero_grad()
        loss, n = task(model, batch, 0.0)
        (loss / n).backward()
        optimiser.step()
    model.eval()
    for place in range(1, 5):
        asked = torch.tensor(rows)
        asked[:, place] = model.mask
        assert model(asked)[:, place].argmax(-1).tolist() == [row[place] for row in rows]
