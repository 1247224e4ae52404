"""The model of the experiment, as functions over a table of parameters; reference 6.1.

`forward(weights, ids, shape, window)` gives hidden states [rows, tokens, width]; `logits` what follows. Attention is
causal over the whole row, or over the last `window` tokens, the token itself included. Weights are float32; under
autocast products run in bfloat16.
"""

import importlib
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from gristmill.manifests.errors import EngineMissingError
from gristmill.synth.experiment.settings import Shape

torch: Any = importlib.import_module("torch") if find_spec("torch") is not None else None
Weights = dict[str, Any]
INIT, EPSILON = 0.02, 1e-6
GAIN = 1.25
"""Where the learned gains of queries and keys begin. Without gains a normalised query cannot favour one of 8,192 keys:
its scores end at the root of a head's width, and a first model looked no further than 100 tokens back."""


def need_torch(device: str) -> Any:
    """The device. Raises EngineMissingError without PyTorch, or without the accelerator that is asked for."""
    if torch is None:
        remedy = "install the extra: pip install 'gristmill[experiment]'"
        raise EngineMissingError("PyTorch is not installed", "synth.experiment", None, remedy)
    if device == "cuda" and not torch.cuda.is_available():
        remedy = "run where there is a GPU, or everything tiny with --smoke (--device cpu takes days)"
        raise EngineMissingError("PyTorch sees no accelerator", "synth.experiment", device, remedy)
    return torch.device(device)


def hidden_width(shape: Shape) -> int:
    """Of the feed-forward part: 8/3 of the width, in multiples of 64."""
    return -(-shape.width * 8 // 3 // 64) * 64


def new_weights(shape: Shape, seed: int, device: Any) -> Weights:
    """Random weights, the same for a seed whatever the arm."""
    draws = torch.Generator().manual_seed(seed)
    inner, deep = hidden_width(shape), INIT / (2 * shape.layers) ** 0.5

    def normal(rows: int, columns: int, scale: float = INIT) -> Any:
        return torch.randn(rows, columns, generator=draws) * scale

    made: Weights = {"embed": normal(shape.vocabulary, shape.width), "last": torch.ones(shape.width)}
    for layer in range(shape.layers):
        made[f"{layer}.norm"] = torch.ones(shape.width)
        made[f"{layer}.qkv"] = normal(3 * shape.width, shape.width)
        made[f"{layer}.out"] = normal(shape.width, shape.width, deep)
        made[f"{layer}.gain"] = torch.full((2, shape.width // shape.heads), GAIN)
        made[f"{layer}.norm2"] = torch.ones(shape.width)
        made[f"{layer}.up"] = normal(2 * inner, shape.width)
        made[f"{layer}.down"] = normal(shape.width, inner, deep)
        if shape.shift:
            made[f"{layer}.shift"] = torch.full((shape.width,), 0.5)
    return {name: w.to(device).requires_grad_(True) for name, w in made.items()}


def parameters(weights: Mapping[str, Any]) -> int:
    """How many there are, the table of the vocabulary included."""
    return sum(w.numel() for w in weights.values())


def rotations(shape: Shape, tokens: int, device: Any) -> tuple[Any, Any]:
    """Cosines and sines of rotary positions, [tokens, width of a head / 2]."""
    half = shape.width // shape.heads // 2
    speed = shape.theta ** (-torch.arange(half, device=device).float() / half)
    angles = torch.arange(tokens, device=device).float()[:, None] * speed
    return angles.cos(), angles.sin()


def forward(weights: Weights, ids: Any, turns: tuple[Any, Any], shape: Shape, window: int | None = None) -> Any:
    """Hidden states of `ids` int64[rows, tokens]; `turns` from `rotations` for as many tokens."""
    x = torch.nn.functional.embedding(ids, weights["embed"])
    for layer in range(shape.layers):
        x = x + _attention(weights, layer, _norm(x, weights[f"{layer}.norm"]), turns, shape, window)
        up, gate = _linear(_norm(x, weights[f"{layer}.norm2"]), weights[f"{layer}.up"]).chunk(2, dim=-1)
        x = x + _linear(torch.nn.functional.silu(gate) * up, weights[f"{layer}.down"])
    return _norm(x, weights["last"])


def logits(weights: Weights, states: Any) -> Any:
    """Scores of the next token, by the table that also embeds."""
    return _linear(states, weights["embed"])


def _linear(x: Any, w: Any) -> Any:
    return torch.nn.functional.linear(x, w)


def _norm(x: Any, gain: Any = None) -> Any:
    return torch.nn.functional.rms_norm(x, x.shape[-1:], gain, EPSILON)


def _attention(weights: Weights, layer: int, x: Any, turns: Any, shape: Shape, window: int | None) -> Any:
    rows, tokens, width = x.shape
    asked, keys, values = _linear(x, weights[f"{layer}.qkv"]).chunk(3, dim=-1)
    if shape.shift:
        before = torch.nn.functional.pad(keys, (0, 0, 1, 0))[:, :-1]
        keys = keys + weights[f"{layer}.shift"] * (before - keys)
    q, k, v = (
        part.reshape(rows, tokens, shape.heads, width // shape.heads).transpose(1, 2) for part in (asked, keys, values)
    )
    gain = weights[f"{layer}.gain"]
    q, k = _turned(_norm(q, gain[0]), turns).to(v.dtype), _turned(_norm(k, gain[1]), turns).to(v.dtype)
    if window is None:
        seen = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    else:
        seen = windowed(q, k, v, window)
    return _linear(seen.transpose(1, 2).reshape(rows, tokens, width), weights[f"{layer}.out"])


def _turned(x: Any, turns: tuple[Any, Any]) -> Any:
    cosine, sine = turns
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cosine - second * sine, first * sine + second * cosine), dim=-1)


def windowed(q: Any, k: Any, v: Any, window: int) -> Any:
    """Attention of each token to the last `window` tokens, itself included; tokens are a multiple of `window`.

    Blocks of `window` queries see their own block and the one before, under a mask.
    """
    rows, heads, tokens, width = q.shape
    blocks = tokens // window

    def pairs(x: Any) -> Any:
        own = x.reshape(rows, heads, blocks, window, width)
        before = torch.nn.functional.pad(own, (0, 0, 0, 0, 1, 0))[:, :, :-1]
        return torch.cat((before, own), dim=3).transpose(1, 2).reshape(rows * blocks, heads, 2 * window, width)

    place = torch.arange(window, device=q.device)[:, None] + window
    key = torch.arange(2 * window, device=q.device)[None, :]
    inside = (key <= place) & (key > place - window)
    real = (key >= window) | (torch.arange(blocks, device=q.device)[:, None, None] > 0)
    mask = (inside & real).repeat(rows, 1, 1)[:, None]
    asked = q.reshape(rows, heads, blocks, window, width).transpose(1, 2).reshape(rows * blocks, heads, window, width)
    seen = torch.nn.functional.scaled_dot_product_attention(asked, pairs(k), pairs(v), attn_mask=mask)
    return seen.reshape(rows, blocks, heads, window, width).transpose(1, 2).reshape(rows, heads, tokens, width)
