"""The share of vision in each stage, counted in image tokens: native multimodality from the first stage on.

A plan says `vision: none`, or a share for all stages or for each. One that says nothing needs MIN_SHARE in every stage:
less would be a plan without a share of vision that does not say so. Datasets without buckets do not say how many of
their tokens are images: they count as pictures, and as no share.
"""

from collections.abc import Mapping, Sequence

from gristmill.manifests.errors import RecipeError
from gristmill.pipeline.reader.epochs import Draw
from gristmill.pipeline.reader.mixture import PERIOD
from gristmill.pipeline.reader.plan_file import PlanModel
from gristmill.pipeline.reader.sources import Source

MIN_SHARE = 0.01
"""A floor that nobody reaches by chance; the default plan of docs/curriculum.md asks for 0.05."""


def image_tokens(draws: Sequence[Draw]) -> float:
    """That so many rows of these sources hold on average."""
    return sum(d.rows * d.source.image_tokens / d.source.rows for d in draws)


def places(draws: Sequence[Draw]) -> int:
    """Tokens of the rows, with their padding: what budgets count."""
    return sum(d.rows * d.source.dataset.context for d in draws)


def _unknown(source: Source) -> bool:
    """Whether it has pictures and does not say how many."""
    pictured = source.domain is None and bool(source.dataset.manifest["media_shards"])
    return pictured and not source.image_tokens


def share(draws: Sequence[Draw]) -> float:
    """Image tokens over all tokens."""
    return image_tokens(draws) / max(places(draws), 1)


def reached(have: float, wanted: float) -> bool:
    """Whether a share is the one wanted, but for the rounding of rates to PERIOD-ths."""
    return have >= wanted - 1 / PERIOD and have > 0


def check_vision(model: PlanModel, draws: Sequence[Draw], rows: Mapping[int, int] | Sequence[int], where: str) -> None:
    """Raises RecipeError, naming the stage and what it has."""
    for number in range(len(rows)):
        mine = [d for d in draws if d.stage == number]
        wanted, at = model.vision_of(number), model.at(where, number)
        if (
            wanted is None
            and not any(_unknown(d.source) for d in mine if d.rows)
            and not reached(share(mine), MIN_SHARE)
        ):
            remedy = "add a source with pictures, or say `vision: none`, or the share, at the plan's top"
            what = f"has no share of vision: {share(mine):.4f} of its tokens are of pictures, not {MIN_SHARE:g}"
            raise RecipeError(what, at, sorted(d.source.name for d in mine), remedy)
        if isinstance(wanted, float) and not reached(share(mine), wanted):
            remedy = "add documents with pictures, or lower the plan's `vision`"
            what = f"its share of image tokens is {share(mine):.4f}, not {wanted:g}"
            raise RecipeError(what, at, f"{image_tokens(mine):.4g} of {places(mine):.4g} tokens", remedy)
