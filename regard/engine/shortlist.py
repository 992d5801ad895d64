"""Vocabulary shortlists: the tokens that the translations of some sentences are likely to need.

The output layer is most of what a small decoder computes, and a search reads all of its logits. For
a batch of sentences only the rows of their shortlist are kept (Jean et al. 2015; Devlin 2017).
"""

from dataclasses import dataclass

import numpy as np

from regard.shapes import Int


@dataclass(frozen=True)
class Shortlist:
    """Tokens that may always come, and those that may come where a source has a certain token."""

    n_tokens: int  # of the target vocabulary
    always: Int[np.ndarray, "n"]
    translations: Int[np.ndarray, "V k"]  # of each token of the source; -1: no more

    def tokens(
        self, source: Int[np.ndarray, "B S"], prefixes: Int[np.ndarray, "B P"]
    ) -> Int[np.ndarray, "v"]:
        """What may come for any of these sources, ascending; outputs can begin with prefixes."""
        is_used = np.zeros(len(self.translations), dtype=bool)
        is_used[source] = True
        is_kept = np.zeros(self.n_tokens + 1, dtype=bool)  # the last is that of -1
        is_kept[self.translations[is_used]] = True
        is_kept[self.always] = True
        is_kept[prefixes] = True
        return np.flatnonzero(is_kept[:-1])
