"""Documents with pictures and videos to make sequences of: each medium has bytes of its own and words beside it."""

import hashlib
import io
from functools import cache

from PIL import Image

from gristmill.manifests.image_tokens import ImageCost
from gristmill.manifests.media_shard import Medium
from gristmill.manifests.schema import MEDIUM_CHAR
from gristmill.manifests.trainer_schema import TrainerFormat
from gristmill.render.draws import Draws
from gristmill.synth.atoms import Prepared, Source, prepare
from gristmill.synth.build import Built, build_with_media, plans
from gristmill.synth.media import Shown
from gristmill.synth.order import Mode
from gristmill.synth.plan import SynthParams, content_order
from tests.synth.corpus import prose, source, tokenizer

COST = ImageCost(max_tokens=400)
"""Pictures of some 400 by 800 pixels are made smaller by it."""
SIDES = (28, 100, 333, 720)


def picture(number: int, width: int, height: int) -> Shown:
    out = io.BytesIO()
    Image.new("RGB", (width, height), (number % 256, number // 256 % 256, 7)).save(out, "PNG")
    data = out.getvalue()
    return Shown(Medium(hashlib.sha256(data).digest(), "image", "image/png", width, height, None), data)


def video(number: int) -> Shown:
    data = b"frames %d" % number
    return Shown(Medium(hashlib.sha256(data).digest(), "video", "video/mp4", 112, 84, 5), data)


def illustrated(number: int) -> Source:
    """Pictures in all the ways that the words of `holds` name; every caption names its picture's colour."""
    draws = Draws("illustrated", number)
    parts: list[str] = []
    media: list[Shown | None] = []
    for at in range(draws.integer(2, 7)):
        parts += prose(draws, draws.integer(1, 6)).split("\n\n")
        name = 100 * number + at
        shown = picture(name, draws.pick(SIDES), draws.pick(SIDES)) if at % 4 else video(name)
        way = draws.pick(("behind", "inside", "missing"))
        media.append(None if way == "missing" else shown)
        if way == "inside":
            parts.append(f"Beside plate {name} {MEDIUM_CHAR} these words go on.")
        else:
            parts += [MEDIUM_CHAR, f"Caption of plate {name}."]
    parts.append(prose(draws, 3))
    plain = source("\n\n".join(parts), 50_000 + number)
    return Source(
        plain.id, plain.source, plain.domain, plain.license, plain.content_hash, plain.cluster, plain.text, tuple(media)
    )


@cache
def prepared(count: int, name: str = "deepseek") -> tuple[Prepared, ...]:
    """So many illustrated documents, and some of text alone."""
    bare = [source(prose(Draws("bare", n), 25), 60_000 + n) for n in range(6)]
    found, refused = prepare([*(illustrated(n) for n in range(count)), *bare], tokenizer(name), COST)
    assert not refused
    return tuple(found)


def form(context: int, name: str = "deepseek") -> TrainerFormat:
    return TrainerFormat(context, tokenizer(name).identity, "", COST)


@cache
def built(context: int, mode: Mode, name: str = "deepseek") -> Built:
    params = SynthParams(context=context, sequences=1, seed=3, modes={mode: 1}, image_cost=COST)
    docs = prepared(context // 400, name)
    (plan,) = plans(params, docs, tokenizer(name))
    return build_with_media(plan, params, content_order(docs), tokenizer(name), form(context, name))
