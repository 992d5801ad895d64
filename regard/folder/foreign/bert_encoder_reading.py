"""What every BERT folder has: a tokenizer, and the words and layers of an encoder."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch

from regard.config.alone import BertSection
from regard.config.labelling import Labelling
from regard.folder.foreign import bert_names as names
from regard.folder.foreign.bert_names import both, stack
from regard.folder.foreign.given import Given, activation_of, refuse_unless, require_stated
from regard.folder.foreign.huggingface import HuggingFaceFolder
from regard.folder.foreign.text_reading import read_tokenizer
from regard.shapes import Float, Int, Tensor
from regard.text import Elsewhere

_OLD = {".gamma": ".weight", ".beta": ".bias"}  # what norms had before 2019
_NEVER_LEARNED = ("embeddings.position_ids",)


@dataclass(frozen=True)
class GivenEncoder:
    """An opened folder of a BERT, whatever its head is made for."""

    folder: HuggingFaceFolder
    given: Given
    words: Float[Tensor, "V D"]
    tokenizer: Elsewhere

    @classmethod
    def open(cls, folder: HuggingFaceFolder) -> "GivenEncoder":
        """Open a folder whose words and places are as many as its files say."""
        given = Given(folder, _name)
        given.require_room(
            layers=("num_hidden_layers",), widths=("hidden_size", "intermediate_size")
        )
        words = given.take(names.WORDS[1])
        tokenizer = read_tokenizer(folder, len(words), has_mask=True)
        require_stated(folder, len(words), "vocab_size")
        require_stated(folder, len(given.take(names.PLACES[1])), "max_position_embeddings")
        if names.TYPES[1] in given:
            require_stated(folder, len(given.take(names.TYPES[1])), "type_vocab_size")
        given.leave(lambda name: name in _NEVER_LEARNED)  # places are only counted
        return cls(folder, given, words, tokenizer)

    @property
    def rows(self) -> Int[Tensor, "N"]:
        """Their id for each of ours."""
        return torch.tensor([row for row in self.tokenizer.rows if row is not None])

    def sizes(self) -> dict[str, Any]:
        """What config.json states of the encoder, by our keys."""
        refuse_unless(
            self.folder,
            "BERT",
            position_embedding_type="absolute",
            is_decoder=False,
            add_cross_attention=False,
        )
        config, given = self.folder.config, self.given
        theirs = config.get("hidden_act", "gelu")
        return {
            "d_model": config["hidden_size"],
            "n_heads": config["num_attention_heads"],
            "d_feedforward": config["intermediate_size"],
            "n_layers": config["num_hidden_layers"],
            "activation": activation_of(self.folder, theirs, names.ACTIVATIONS, "BERT"),
            "norm_epsilon": config.get("layer_norm_eps", 1e-12),
            "context": len(given.take(names.PLACES[1])),
            "n_types": len(given.take(names.TYPES[1])) if names.TYPES[1] in given else 0,
            "dropout": config.get("hidden_dropout_prob", 0.1),
            "attention_dropout": config.get("attention_probs_dropout_prob", 0.1),
            "feedforward_dropout": 0.0,
        }

    def weights(
        self, section: BertSection | Labelling, more: Iterable[tuple[str, str]]
    ) -> dict[str, Tensor]:
        """The encoder's weights and those of more layers, by our names and theirs."""
        tables = [names.PLACES, *([names.TYPES] if section.n_types else [])]
        layers = [*stack(section.n_layers), *more]
        tables += [pair for layer in layers for pair in both(*layer)]
        weights: dict[str, Tensor] = {ours: self.given.take(theirs) for ours, theirs in tables}
        return weights | {names.WORDS[0]: self.words[self.rows]}


def _name(theirs: str) -> str:
    """The name without what differs among the folders."""
    for old, new in _OLD.items():
        if theirs.endswith(f"LayerNorm{old}"):
            theirs = theirs.removesuffix(old) + new
    return theirs.removeprefix(names.BASE)
