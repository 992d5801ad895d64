"""The four ids that mean the same in every tokenizer, model and file of the project."""

PAD, UNKNOWN, BOS, EOS = 0, 1, 2, 3

NAMES = ("<pad>", "<unk>", "<s>", "</s>")
"""How the special ids are printed, in their order."""

TURN = "<turn>"
"""What stands between two turns of a conversation: one token of every tokenizer that learned it."""

UNKNOWN_SURFACE = "⁇"
"""What stands in decoded text for a token the vocabulary does not hold."""
