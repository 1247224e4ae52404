"""A tiny transformer trained on rows of a plan, on the CPU: how a trainer reads, masks, stops and goes on.

    python docs/examples/tiny_trainer.py PLAN --out FOLDER [--steps N] [--window N]

Needs torch. PLAN is a plan or a dataset's folder. Of each row only the first `--window` tokens are used, so that it
takes a minute, not a cluster. After every step FOLDER/checkpoint.pt is replaced (model, optimiser, the stream's state)
and FOLDER/losses.json and FOLDER/loss.svg are written; the same command goes on from there, and its losses are bit for
bit those of a run that nothing stopped: the order of rows is no state, and nothing is drawn on the way.

Tokens attend to earlier ones of their own attention group alone (`segment_ids`), positions begin anew in each, and the
loss is weighed by `loss_mask`.
"""

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from gristmill.pipeline.reader import Batch, ReadOptions, TokenStream

WIDTH, HEADS, LAYERS = 64, 4, 2
LEARNING_RATE = 3e-3
GLOBAL_BATCH = 4
SVG_WIDTH, SVG_HEIGHT = 640, 320


class TinyTransformer(nn.Module):
    """Token and position embeddings, LAYERS of masked attention and a feed-forward, tied output."""

    def __init__(self, vocabulary: int, window: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, WIDTH)
        self.places = nn.Embedding(window, WIDTH)
        for embedding in (self.tokens, self.places):
            nn.init.normal_(embedding.weight, std=0.02)  # tied to the output: wider, and the first loss is 40
        layer = [nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, 0.0, batch_first=True) for _ in range(LAYERS)]
        self.layers = nn.ModuleList(layer)

    def forward(self, tokens: Any, positions: Any, segments: Any) -> Any:
        """Logits float[b, n, vocabulary] of the token behind each; all arguments int64[b, n]."""
        mask = forbidden(segments).repeat_interleave(HEADS, dim=0)
        state = self.tokens(tokens) + self.places(positions)
        for layer in self.layers:
            state = layer(state, src_mask=mask)
        return state @ self.tokens.weight.T


def forbidden(segments: Any) -> Any:
    """bool[b, n, n]: where a token may not look: at later ones, and at other attention groups."""
    n = segments.shape[1]
    later = torch.ones(n, n, dtype=torch.bool).triu(1)
    return later | (segments[:, :, None] != segments[:, None, :])


@dataclass
class Trainer:
    """A model with its optimiser and the losses so far."""

    model: TinyTransformer
    optimiser: Any
    losses: list[float]


def loss_of(model: TinyTransformer, batch: Batch, window: int) -> Any:
    """The weighted mean of the loss of each token as a target."""
    tokens = batch.tokens[:, :window].long()
    positions = torch.from_numpy(batch.positions[:, :window]).long()
    segments = torch.from_numpy(batch.segment_ids[:, :window]).long()
    weights = torch.from_numpy(batch.loss_mask[:, 1:window])
    logits = model(tokens, positions, segments)[:, :-1]
    each = nn.functional.cross_entropy(logits.transpose(1, 2), tokens[:, 1:], reduction="none")
    return (each * weights).sum() / weights.sum().clamp(min=1)


def train(plan: Path, out: Path, steps: int, window: int) -> list[float]:
    """Go on to so many steps in all, or to the end of the plan; the losses of all steps."""
    out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    stream = TokenStream(plan, global_batch=GLOBAL_BATCH, options=ReadOptions(torch=True))
    vocabulary = max(dataset.tokenizer.vocab_size for dataset in stream.plan.datasets.values())
    model = TinyTransformer(vocabulary, window)
    trainer = Trainer(model, torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE), [])
    _load(trainer, stream, out / "checkpoint.pt")
    for batch in stream if len(trainer.losses) < steps else ():
        loss = loss_of(model, batch, window)
        trainer.optimiser.zero_grad()
        loss.backward()
        trainer.optimiser.step()
        trainer.losses.append(float(loss.detach()))
        _save(trainer, stream, out)
        print(f"step {len(trainer.losses)}: stage {batch.stage}, loss {trainer.losses[-1]:.4f}")
        if len(trainer.losses) >= steps:
            break
    return trainer.losses


def _load(trainer: Trainer, stream: TokenStream, path: Path) -> None:
    if path.exists():
        saved: Any = torch.load(path, weights_only=True)
        trainer.model.load_state_dict(saved["model"])
        trainer.optimiser.load_state_dict(saved["optimiser"])
        stream.load_state_dict(saved["stream"])
        trainer.losses = saved["losses"]


def _save(trainer: Trainer, stream: TokenStream, out: Path) -> None:
    state = {
        "model": trainer.model.state_dict(),
        "optimiser": trainer.optimiser.state_dict(),
        "stream": stream.state_dict(),
        "losses": trainer.losses,
    }
    torch.save(state, out / "checkpoint.pt.new")
    os.replace(out / "checkpoint.pt.new", out / "checkpoint.pt")
    (out / "losses.json").write_text(json.dumps(trainer.losses), encoding="utf-8")
    (out / "loss.svg").write_text(curve(trainer.losses), encoding="utf-8")


def curve(losses: Sequence[float]) -> str:
    """The losses by step, as SVG."""
    low, high = min(losses), max(losses)
    across, up = max(len(losses) - 1, 1), max(high - low, 1e-9)
    points = " ".join(
        f"{40 + (SVG_WIDTH - 60) * i / across:.1f},{20 + (SVG_HEIGHT - 60) * (high - loss) / up:.1f}"
        for i, loss in enumerate(losses)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{SVG_WIDTH}" height="{SVG_HEIGHT}" font-size="12">'
        f'<rect width="100%" height="100%" fill="white"/>'
        f'<polyline points="{points}" fill="none" stroke="black"/>'
        f'<text x="4" y="24">{high:.2f}</text><text x="4" y="{SVG_HEIGHT - 36}">{low:.2f}</text>'
        f'<text x="40" y="{SVG_HEIGHT - 12}">loss of {len(losses)} steps</text></svg>\n'
    )


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description="train a tiny transformer on a plan's rows")
    parser.add_argument("plan", type=Path, metavar="PLAN")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--steps", type=int, default=100, metavar="N")
    parser.add_argument("--window", type=int, default=256, metavar="N")
    args = parser.parse_args()
    train(args.plan, args.out, args.steps, args.window)


if __name__ == "__main__":
    main()
