"""One sentence through one head of a model, from embedding to output.

Every number was heard at a probe of the model itself. What is worked out here from recorded
tensors is only how they belong together: the unscaled score, and the parts of a sum.
"""

import math
from collections.abc import Sequence

import torch

from regard.attention import Dot
from regard.errors import UsageError
from regard.inspection.explanation.steps import Explanation, Step, Table
from regard.inspection.recording import Recording
from regard.shapes import Float, Tensor


def explain_sentence(
    heard: Recording,
    tokens: Sequence[str],
    *,
    layer: int = 0,
    head: int = 0,
    place: int = 0,
    is_pre_norm: bool = False,
    about: str = "",
) -> Explanation:
    """Follow the token at ``place`` through one head; ``heard`` is a recording of the encoder."""
    _require_heard(heard, layer, head)
    view = _View(heard, tuple(tokens), layer, head, place, is_pre_norm)
    return Explanation(
        topic="sentence",
        title=f"“{tokens[place]}” through layer {layer}, head {head}",
        lead=f"{about} Layers, heads and places are counted from 0.".strip(),
        steps=(
            *view.embedding(),
            view.projections(),
            view.scores(),
            view.looking(),
            view.weighted_sum(),
            view.heads(),
            view.around_attention(),
            view.around_feedforward(),
            view.everywhere(),
        ),
    )


def _require_heard(heard: Recording, layer: int, head: int) -> None:
    n_layers = sum(1 for name in heard if name.endswith(".attention.weights"))
    if not n_layers or "encoder.embedding.words" not in heard:
        raise UsageError(
            "this model has no encoder to step through: give a model folder of a Transformer"
        )
    if not 0 <= layer < n_layers:
        raise UsageError(
            f"there is no layer {layer}: this model has {n_layers}, counted 0 to {n_layers - 1}"
        )
    n_heads = heard[f"encoder.layers.{layer}.attention.weights"].shape[1]
    if not 0 <= head < n_heads:
        raise UsageError(
            f"there is no head {head}: this model has {n_heads}, counted 0 to {n_heads - 1}"
        )


class _View:
    """The recorded tensors of one sentence, seen from one token, layer and head."""

    def __init__(
        self,
        heard: Recording,
        tokens: tuple[str, ...],
        layer: int,
        head: int,
        place: int,
        is_pre_norm: bool,
    ) -> None:
        self.heard, self.tokens = heard, tokens
        self.layer, self.head, self.place = layer, head, place
        self.is_pre_norm = is_pre_norm
        self.word = tokens[place]
        self.layers = [name for name in heard if name.endswith(".attention.weights")]

    def at(self, name: str) -> tuple[str, Float[Tensor, "..."]]:
        """A probe of this layer, and what passed it."""
        probe = f"encoder.layers.{self.layer}.{name}"
        return probe, self.heard[probe][0]

    def of_head(self, name: str) -> tuple[str, Float[Tensor, "L N"]]:
        """The same for this head of the attention."""
        probe, recorded = self.at(f"attention.{name}")
        return probe, recorded[self.head]

    def rows(self, name: str, probe: str, numbers: Float[Tensor, "L N"]) -> Table:
        """A table with one row a token."""
        return Table.of(name, numbers, self.tokens, focus=self.place, probe=probe)

    def embedding(self) -> list[Step]:
        """What enters the layer."""
        words, placed = (f"encoder.embedding.{name}" for name in ("words", "placed"))
        word, sum_ = self.heard[words][0], self.heard[placed][0]
        # A model may be told no places at all; then nothing was added.
        has_places = not torch.equal(word, sum_)
        of_word, with_place = (
            self.rows("√d · table[word]", words, word),
            self.rows("+ position", placed, sum_),
        )
        steps = [
            Step(
                "Words become vectors",
                f"x = √d · table[ word ]{' + PE( place )' if has_places else ''}",
                f"Each token has a row of d = {word.shape[-1]} numbers in a table; "
                + (
                    "the encoding of its place is added."
                    if has_places
                    else "this model adds nothing for its place."
                ),
                (of_word, with_place) if has_places else (of_word,),
            )
        ]
        if self.layer:
            below = f"encoder.layers.{self.layer - 1}.around_feedforward.result"
            steps.append(
                Step(
                    f"What layer {self.layer - 1} hands up",
                    f"x = layer {self.layer - 1}( … )",
                    "After the layers below, each row already knows something of its sentence.",
                    (self.rows("x", below, self.heard[below][0]),),
                )
            )
        return steps

    def projections(self) -> Step:
        """Queries, keys and values of the head."""
        names = (("q", "queries"), ("k", "keys"), ("v", "values"))
        tables = tuple(self.rows(short, *self.of_head(name)) for short, name in names)
        given = "norm( x )" if self.is_pre_norm else "x"
        return Step(
            "Query, key, value",
            f"q = {given} W_q    k = {given} W_k    v = {given} W_v",
            f"Head {self.head} turns each token into {len(tables[0].columns)} numbers, three ways.",
            tables,
        )

    def scores(self) -> Step:
        """The score of every pair, unscaled and scaled."""
        (_, query), (_, key) = self.of_head("queries"), self.of_head("keys")
        width = query.shape[-1]
        raw = Dot(width, width)(query[None], key[None])[0]
        probe, scaled = self.of_head("scores")
        row = torch.stack([raw[self.place], scaled[self.place]])
        return Step(
            "Score and scale",
            "e = q · k / √d_k",
            f"“{self.word}” asks, every token answers; √d_k = √{width} = {math.sqrt(width):.2f}.",
            (
                Table.of("scores of the word", row, ["q · k", "÷ √d_k"], self.tokens),
                Table.of("scores", scaled, self.tokens, self.tokens, focus=self.place, probe=probe),
            ),
        )

    def looking(self) -> Step:
        """The weights: which tokens the word looks at."""
        probe, weights = self.of_head("weights")
        mine = weights[self.place]
        best = self.tokens[int(mine.argmax())]
        return Step(
            f"What “{self.word}” looks at",
            "α = softmax( e )",
            f"Shares that sum to 1. Most goes to “{best}”: {float(mine.max()):.2f}.",
            (
                Table.of(
                    "weights of the word", mine[:, None], self.tokens, ["α"], look="bars",
                    decimals=3, focus=self.place, probe=probe,
                ),
                Table.of(
                    "weights", weights, self.tokens, self.tokens, look="share",
                    focus=self.place, probe=probe,
                ),
            ),
        )  # fmt: skip

    def weighted_sum(self) -> Step:
        """The parts of the context, and the context itself."""
        (_, weights), (_, values) = self.of_head("weights"), self.of_head("values")
        probe, contexts = self.of_head("contexts")
        mine = weights[self.place]
        parts = torch.cat([mine[:, None] * values, contexts[self.place][None]])
        labels = [f"{a:.2f} {word}" for a, word in zip(mine.tolist(), self.tokens, strict=True)]
        return Step(
            "Weighted sum",
            "z = Σⱼ αⱼ vⱼ",
            f"Each value counts as much as “{self.word}” looks at it; the last row is the sum.",
            (Table.of("α · v", parts, [*labels, "Σ = z"], focus=len(labels), probe=probe),),
        )

    def heads(self) -> Step:
        """All heads' contexts of the word, end to end, through W_o."""
        probe, contexts = self.at("attention.contexts")
        of_word = contexts[:, self.place]
        change_probe, change = self.at("around_attention.change")
        heads = [f"head {i}" for i in range(of_word.shape[0])]
        return Step(
            "Concatenate the heads, multiply by W_o",
            "MultiHead = [ z₀; z₁; … ] W_o",
            f"Each of the {len(heads)} heads did the same with its own matrices. Their results, "
            "end to end, go through W_o.",
            (
                Table.of("z of each head", of_word, heads, focus=self.head, probe=probe),
                Table.of("[ z₀; z₁; … ]", of_word.flatten()[None], [self.word], probe=probe),
                Table.of("MultiHead", change[self.place][None], [self.word], probe=change_probe),
            ),
        )

    def around_attention(self) -> Step:
        """Add and norm after attention."""
        probe, result = self.at("around_attention.result")
        formula = "x + MultiHead( norm( x ) )" if self.is_pre_norm else "norm( x + MultiHead( x ) )"
        return Step(
            "Add" if self.is_pre_norm else "Add and norm",
            f"y = {formula}",
            "The token's own vector is added back: attention only changes it.",
            (self.rows("y", probe, result),),
        )

    def around_feedforward(self) -> Step:
        """Feed-forward, add and norm."""
        inner_probe, inner = self.at("feedforward.inner")
        change_probe, change = self.at("around_feedforward.change")
        probe, result = self.at("around_feedforward.result")
        active = int((inner[self.place] > 0).sum())
        given = "norm( y )" if self.is_pre_norm else "y"
        formula = f"y + F( {given} )" if self.is_pre_norm else f"norm( y + F( {given} ) )"
        return Step(
            "Feed-forward, add" if self.is_pre_norm else "Feed-forward, add and norm",
            f"F( u ) = act( u W₁ + b₁ ) W₂ + b₂    {formula}",
            f"Each token by itself: widened to {inner.shape[-1]} numbers, of which {active} are "
            f"above 0 for “{self.word}”, and narrowed again. {self._where_it_goes()}",
            (
                Table.of("inner", inner[self.place][None], [self.word], probe=inner_probe),
                Table.of(
                    f"F( {given} )", change[self.place][None], [self.word], probe=change_probe
                ),
                self.rows("output of the layer", probe, result),
            ),
        )

    def _where_it_goes(self) -> str:
        if self.layer < len(self.layers) - 1:
            return f"The result goes to layer {self.layer + 1}."
        last = "through one more norm " if self.is_pre_norm else ""
        return f"This is the last layer: the result goes {last}to the decoder."

    def everywhere(self) -> Step:
        """Which token the word looks at most, in every head of every layer."""
        names = self.layers
        mine = [self.heard[name][0, :, self.place] for name in names]
        cells = tuple(
            tuple(f"{self.tokens[int(w.argmax())]} {float(w.max()):.2f}" for w in heads)
            for heads in mine
        )
        n_heads = max(len(row) for row in cells)
        return Step(
            "In every head",
            "argmaxⱼ αⱼ",
            f"The token “{self.word}” looks at most, and how much it takes of it.",
            (
                Table(
                    "looks most at",
                    tuple(f"layer {i}" for i in range(len(names))),
                    tuple(f"head {i}" for i in range(n_heads)),
                    cells,
                    "text",
                    focus=self.layer,
                ),
            ),
        )
