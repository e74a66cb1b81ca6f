"""Models written for PyTorch, as people have them: the tests of `gradd.offload` run them there and here."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn


class ConvNet(nn.Module):
    """Convolution, batch norm, dropout, a linear layer."""

    def __init__(self, p: float = 0.0) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(4)
        self.drop = nn.Dropout(p)
        self.head = nn.Linear(4, 5)

    def forward(self, x: Any) -> Any:
        x = torch.relu(self.norm(self.conv(x))).mean((2, 3))
        return self.head(self.drop(x))


class Residual(nn.Module):
    """ResNet's basic block."""

    def __init__(self, inside: int, out: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inside, out, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        self.downsample = None
        if stride != 1 or inside != out:
            self.downsample = nn.Sequential(
                nn.Conv2d(inside, out, 1, stride, bias=False), nn.BatchNorm2d(out)
            )

    def forward(self, x: Any) -> Any:
        kept = x if self.downsample is None else self.downsample(x)
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.bn2(self.conv2(x))
        x += kept
        return self.relu(x)


class ResNet18(nn.Module):
    """ResNet-18, with `width` channels where the paper has 64."""

    def __init__(self, width: int = 64, classes: int = 10) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        inside = width
        for i in range(4):
            out, stride = width * 2**i, 1 if i == 0 else 2
            setattr(
                self, f"layer{i + 1}", nn.Sequential(Residual(inside, out, stride), Residual(out, out, 1))
            )
            inside = out
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(inside, classes)

    def forward(self, x: Any) -> Any:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


class Conv1D(nn.Module):
    """A linear layer whose weight is (in, out), as GPT-2's checkpoints have it."""

    def __init__(self, out: int, inside: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inside, out) * 0.02)
        self.bias = nn.Parameter(torch.zeros(out))

    def forward(self, x: Any) -> Any:
        size = (*x.size()[:-1], self.bias.numel())
        return torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight).view(size)


class Attention(nn.Module):
    """Causal self-attention with a mask as a buffer."""

    bias: Any

    def __init__(self, width: int, heads: int, context: int) -> None:
        super().__init__()
        self.heads = heads
        self.c_attn, self.c_proj = Conv1D(3 * width, width), Conv1D(width, width)
        mask = torch.tril(torch.ones((context, context), dtype=torch.bool)).view(1, 1, context, context)
        self.register_buffer("bias", mask, persistent=False)
        self.drop = nn.Dropout(0.0)

    def forward(self, x: Any) -> Any:
        b, t, width = x.shape
        q, k, v = (
            one.view(b, t, self.heads, -1).transpose(1, 2) for one in self.c_attn(x).split(width, dim=2)
        )
        scores = torch.matmul(q, k.transpose(-1, -2)) / (v.size(-1) ** 0.5)
        lowest = torch.full([], torch.finfo(scores.dtype).min, dtype=scores.dtype)
        scores = torch.where(self.bias[:, :, :t, :t], scores, lowest)
        out = torch.matmul(self.drop(nn.functional.softmax(scores, dim=-1)), v)
        return self.c_proj(out.transpose(1, 2).contiguous().view(b, t, width))


class Feed(nn.Module):
    """GPT-2's two layers, with its approximation of GELU."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.c_fc, self.c_proj = Conv1D(4 * width, width), Conv1D(width, 4 * width)

    def forward(self, x: Any) -> Any:
        x = self.c_fc(x)
        inner = math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))
        return self.c_proj(0.5 * x * (1.0 + torch.tanh(inner)))


class GPT2(nn.Module):
    """A language model of GPT-2's blocks, whose head shares the embedding's weight."""

    def __init__(
        self, words: int = 11, width: int = 8, heads: int = 2, layers: int = 2, context: int = 16
    ) -> None:
        super().__init__()
        self.wte, self.wpe = nn.Embedding(words, width), nn.Embedding(context, width)
        self.h = nn.ModuleList()
        for _ in range(layers):
            block = nn.Module()
            block.ln_1, block.ln_2 = nn.LayerNorm(width, eps=1e-5), nn.LayerNorm(width, eps=1e-5)
            block.attn, block.mlp = Attention(width, heads, context), Feed(width)
            self.h.append(block)
        self.ln_f = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.wte.weight

    def forward(self, ids: Any, labels: Any = None) -> dict[str, Any]:
        at = torch.arange(ids.shape[1], device=ids.device).unsqueeze(0)
        x = self.wte(ids) + self.wpe(at)
        for block in self.h:
            x = x + block.attn(block.ln_1(x))
            x = x + block.mlp(block.ln_2(x))
        found = {"logits": self.head(self.ln_f(x))}
        if labels is not None:
            found["loss"] = nn.functional.cross_entropy(found["logits"].flatten(0, 1), labels.flatten())
        return found


class Words(nn.Module):
    """An LSTM language model; returns its state too."""

    def __init__(self, words: int = 11, width: int = 6) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, width, padding_idx=0)
        self.lstm = nn.LSTM(width, width, num_layers=2, batch_first=True)
        self.head = nn.Linear(width, words)

    def forward(self, ids: Any, state: Any = None) -> Any:
        out, state = self.lstm(self.embed(ids), state)
        return self.head(out), state
