"""GPT-2's layout the way nanoGPT writes it: torch's own modules, and nothing else."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

LAYERS, HEADS, WIDTH, CONTEXT, ROWS = 4, 4, 128, 64, 12


class Attention(nn.Module):
    """Causal self-attention, query, key and value in one product."""

    def __init__(self) -> None:
        super().__init__()
        self.attend = nn.Linear(WIDTH, 3 * WIDTH)
        self.project = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        """Each place gathers from those before it."""
        b, t, d = x.shape
        heads = (
            part.view(b, t, HEADS, d // HEADS).transpose(1, 2)
            for part in self.attend(x).split(d, dim=2)
        )
        y = F.scaled_dot_product_attention(*heads, is_causal=True)
        return self.project(y.transpose(1, 2).contiguous().view(b, t, d))


class Block(nn.Module):
    """Pre-norm attention and perceptron."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.attention, self.norm2 = (
            nn.LayerNorm(WIDTH),
            Attention(),
            nn.LayerNorm(WIDTH),
        )
        self.widen, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        """Add what attention and perceptron bring."""
        x = x + self.attention(self.norm1(x))
        return x + self.narrow(F.gelu(self.widen(self.norm2(x))))


class Plain(nn.Module):
    """GPT-2's layout as nanoGPT writes it."""

    def __init__(self, n_tokens: int) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(n_tokens, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.output = nn.Linear(WIDTH, n_tokens, bias=False)
        self.apply(self._begin)
        self.output.weight = self.words.weight
        for name, parameter in self.named_parameters():
            if name.endswith(("project.weight", "narrow.weight")):
                nn.init.normal_(parameter, std=0.02 / math.sqrt(2 * LAYERS))

    @staticmethod
    def _begin(module: nn.Module) -> None:
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=0.02)
            if isinstance(module, nn.Linear) and module.bias is not None:
                nn.init.zeros_(module.bias)

    def forward(self, ids: Tensor, targets: Tensor) -> Tensor:
        """The mean loss of the next words."""
        x = self.words(ids) + self.places(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        logits = self.output(self.norm(x))
        flat = logits.view(-1, logits.size(-1))
        return F.cross_entropy(flat, targets.reshape(-1), ignore_index=0)
