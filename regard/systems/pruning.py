"""What a translator loses without its heads, one after the other."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from regard.decoding import Search
from regard.errors import UsageError, WrongModelError
from regard.folder import LoadedModel
from regard.inspection.ablation import ablated
from regard.inspection.heads import Head, HeadLike, all_heads, find_heads
from regard.systems.opened import open_model, refusal
from regard.systems.translation import Translator

_TOGETHER = 32


@dataclass(frozen=True)
class Pruned:
    """A model without some of its heads: its loss in nats a token, and what it writes."""

    heads: tuple[Head, ...]  # that are off
    loss: float
    outputs: tuple[str, ...]  # none unless asked for


def pruning_curve(
    model: str | Path | LoadedModel | Translator,
    pairs: Sequence[tuple[str, str]],
    order: Iterable[HeadLike],
    *,
    removed: Sequence[int] | None = None,
    search: Search | None = None,
) -> Iterator[Pruned]:
    """Switch heads off one after the other, and measure the model on pairs as they go.

    ``order`` is that of ``importance(…).ranked``: the least important first. ``removed`` says
    after how many to measure, by default after each, and before the first. With a ``search`` the
    sources are translated too, for BLEU to judge.
    """
    translator = open_model(model)
    if not isinstance(translator, Translator):
        raise WrongModelError(refusal(translator.loaded, "translate"))
    network = translator.models[0]
    heads = find_heads(network, list(order))
    counts = range(len(heads) + 1) if removed is None else removed
    if any(not 0 <= n <= len(heads) for n in counts):
        raise UsageError(
            f"0 to {len(heads)} heads can be removed in the order given, not {max(counts)}; the "
            f"model has {len(all_heads(network))}"
        )
    sources = [source for source, _ in pairs]
    for n in counts:
        with ablated(network, heads[:n]):
            scored = list(translator.score(pairs))
            outputs = () if search is None else _written(translator, sources, search)
        n_tokens = sum(len(one.tokens) for one in scored)
        loss = -sum(one.log_probability for one in scored) / max(1, n_tokens)
        yield Pruned(heads[:n], loss, outputs)


def _written(translator: Translator, sources: Sequence[str], search: Search) -> tuple[str, ...]:
    return tuple(found[0].text for found in translator.translate_each(sources, search))
