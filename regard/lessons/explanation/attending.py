"""One attention of one layer, step by step: the same for all three that a Transformer has."""

import math
from dataclasses import dataclass

import torch

from regard.attention import Dot
from regard.inspection.recording import Recording
from regard.lessons.explanation.steps import ExplainedStep, NumberTable
from regard.shapes import Float, Tensor


@dataclass(frozen=True)
class Attending:
    """What was heard of an attention, seen from one query and one head.

    ``name`` is the attention within its layer ("attention" or "cross"). ``given`` is how formulas
    write what the queries are made of, ``memory`` the same of keys and values, ``result`` the sum
    after it.
    """

    heard: Recording
    layer: str  # decoder.layers.1
    queries: tuple[str, ...]  # the tokens that ask
    place: int  # of the one that is followed
    head: int
    is_pre_norm: bool
    name: str = "attention"
    keys: tuple[str, ...] | None = None  # the tokens that answer, if they are others
    is_causal: bool = False
    before: str = ""  # what titles begin with
    given: str = "x"
    memory: str | None = None
    result: str = "y"

    @property
    def word(self) -> str:
        """The token that is followed."""
        return self.queries[self.place]

    @property
    def answers(self) -> tuple[str, ...]:
        """The tokens that answer."""
        return self.queries if self.keys is None else self.keys

    @property
    def normed(self) -> str:
        """What is projected, in a formula."""
        return f"norm( {self.given} )" if self.is_pre_norm else self.given

    def at(self, name: str) -> tuple[str, Float[Tensor, "..."]]:
        """A probe of this layer, and what passed it."""
        probe = f"{self.layer}.{name}"
        return probe, self.heard[probe][0]

    def of_head(self, name: str) -> tuple[str, Float[Tensor, "L N"]]:
        """A probe of the attention, and what passed it in this head."""
        probe, recorded = self.at(f"{self.name}.{name}")
        return probe, recorded[self.head]

    def steps(self) -> tuple[ExplainedStep, ...]:
        """All of them, in order."""
        return (
            self.projections(),
            self.scores(),
            self.looking(),
            self.weighted_sum(),
            self.heads(),
            self.around(),
        )

    def projections(self) -> ExplainedStep:
        """Queries, keys and values of the head."""
        asking = self._rows("q", *self.of_head("queries"))
        focus = self.place if self.keys is None else None
        (key_probe, keys), (value_probe, values) = (self.of_head(one) for one in ("keys", "values"))
        key = NumberTable.of("k", keys, self.answers, focus=focus, probe=key_probe)
        value = NumberTable.of("v", values, self.answers, focus=focus, probe=value_probe)
        memory = self.memory or self.normed
        width = len(asking.columns)
        prose = (
            f"Head {self.head} turns each token into {width} numbers, three ways."
            if self.keys is None
            else f"The target's tokens ask (q), the source's answer (k, v): {width} numbers each."
        )
        return ExplainedStep(
            self._titled("Query, key, value"),
            f"q = {self.normed} W_q    k = {memory} W_k    v = {memory} W_v",
            prose,
            (asking, key, value),
        )

    def scores(self) -> ExplainedStep:
        """The score of every pair, unscaled and scaled, and masked where the future is hidden."""
        (_, query), (_, key) = self.of_head("queries"), self.of_head("keys")
        width = query.shape[-1]
        raw = Dot(width, width)(query[None], key[None])[0]
        probe, scaled = self.of_head("scores")
        rows = {"q · k": raw[self.place], "÷ √d_k": scaled[self.place]}
        tables = [
            NumberTable.of(
                "scores", scaled, self.queries, self.answers, focus=self.place, probe=probe
            )
        ]
        prose = (
            f"“{self.word}” asks, every token answers; √d_k = √{width} = {math.sqrt(width):.2f}."
        )
        if self.is_causal:
            masked = scaled.masked_fill(~torch.ones_like(scaled).tril().bool(), -torch.inf)
            rows["mask"] = masked[self.place]
            tables.append(
                NumberTable.of(
                    "masked scores", masked, self.queries, self.answers, focus=self.place
                )
            )
            prose += " What comes later is not written yet: its score becomes -∞, and its weight 0."
        of_word = torch.stack(list(rows.values()))
        return ExplainedStep(
            self._titled("Score, scale, mask" if self.is_causal else "Score and scale"),
            "e = q · k / √d_k" + ("    eⱼ = -∞ for j > t" if self.is_causal else ""),
            prose,
            (NumberTable.of("scores of the word", of_word, list(rows), self.answers), *tables),
        )

    def looking(self) -> ExplainedStep:
        """The weights: which tokens the word looks at."""
        probe, weights = self.of_head("weights")
        mine = weights[self.place]
        best = self.answers[int(mine.argmax())]
        focus = self.place if self.keys is None else None
        return ExplainedStep(
            self._titled(f"What “{self.word}” looks at"),
            "α = softmax( e )",
            f"Shares that sum to 1. Most goes to “{best}”: {float(mine.max()):.2f}.",
            (
                NumberTable.of(
                    "weights of the word", mine[:, None], self.answers, ["α"], look="bars",
                    decimals=3, focus=focus, probe=probe,
                ),
                NumberTable.of(
                    "weights", weights, self.queries, self.answers, look="share",
                    focus=self.place, probe=probe,
                ),
            ),
        )  # fmt: skip

    def weighted_sum(self) -> ExplainedStep:
        """The parts of the context, and the context itself."""
        (_, weights), (_, values) = self.of_head("weights"), self.of_head("values")
        probe, contexts = self.of_head("contexts")
        mine = weights[self.place]
        parts = torch.cat([mine[:, None] * values, contexts[self.place][None]])
        labels = [f"{a:.2f} {word}" for a, word in zip(mine.tolist(), self.answers, strict=True)]
        return ExplainedStep(
            self._titled("Weighted sum"),
            "z = Σⱼ αⱼ vⱼ",
            f"Each value counts as much as “{self.word}” looks at it; the last row is the sum.",
            (NumberTable.of("α · v", parts, [*labels, "Σ = z"], focus=len(labels), probe=probe),),
        )

    def heads(self) -> ExplainedStep:
        """All heads' contexts of the word, end to end, through W_o."""
        probe, contexts = self.at(f"{self.name}.contexts")
        of_word = contexts[:, self.place]
        change_probe, change = self.at(f"around_{self.name}.change")
        heads = [f"head {i}" for i in range(of_word.shape[0])]
        return ExplainedStep(
            self._titled("Concatenate the heads, multiply by W_o"),
            "MultiHead = [ z₀; z₁; … ] W_o",
            f"Each of the {len(heads)} heads did the same with its own matrices. Their results, "
            "end to end, go through W_o.",
            (
                NumberTable.of("z of each head", of_word, heads, focus=self.head, probe=probe),
                NumberTable.of("[ z₀; z₁; … ]", of_word.flatten()[None], [self.word], probe=probe),
                NumberTable.of(
                    "MultiHead", change[self.place][None], [self.word], probe=change_probe
                ),
            ),
        )

    def around(self) -> ExplainedStep:
        """Add and norm after attention."""
        probe, result = self.at(f"around_{self.name}.result")
        more = f", {self.memory}" if self.memory else ""
        called = f"MultiHead( {self.normed}{more} )"
        formula = f"{self.given} + {called}"
        return ExplainedStep(
            self._titled("Add" if self.is_pre_norm else "Add and norm"),
            f"{self.result} = {formula if self.is_pre_norm else f'norm( {formula} )'}",
            "The token's own vector is added back: attention only changes it.",
            (self._rows(self.result, probe, result),),
        )

    def _rows(self, name: str, probe: str, numbers: Float[Tensor, "L N"]) -> NumberTable:
        """A table with one row a query."""
        return NumberTable.of(name, numbers, self.queries, focus=self.place, probe=probe)

    def _titled(self, title: str) -> str:
        return f"{self.before}: {title[0].lower()}{title[1:]}" if self.before else title
