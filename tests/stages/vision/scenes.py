"""Render pairs for tests: bars and words with their code, drawn here, so that every annotation is known."""

import hashlib
import io
import json
from typing import Any

import pyarrow as pa
from blake3 import blake3
from PIL import Image

from gristmill.manifests.coordinates import Box, Size
from gristmill.manifests.schema import DOCUMENT, MEDIUM_CHAR, content_hash, document_batch, record_id
from gristmill.stages.vision.scene import Element, Scene, fenced

WORDS = ("Sales", "Costs & more", "Profit 2019", "North <west>", "Visitors", "12 of 40", "Rain")
SIZE = Size(320, 200)
SPLITS = ("train", "train", "validation", "train", "test")
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd")


def number(*key: object) -> int:
    """A number that the key decides."""
    return int.from_bytes(blake3(repr(key).encode()).digest(8), "big")


def annotation(at: int, role: str, text: str, box: Box, **more: Any) -> dict[str, Any]:
    """An element that is seen whole."""
    made: dict[str, Any] = {
        "id": f"e{at}",
        "role": role,
        "text": text,
        "z": at,
        "visible_frac": 1.0,
        "truncated": False,
    }
    middle = [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2]
    return made | {"bbox_full": list(box), "bbox_visible": list(box), "point": middle} | more


def pair(seed: int, size: Size = SIZE) -> dict[str, Any]:
    """A record: bars, each with a label, of which some say the same."""
    bars = 2 + number("bars", seed) % 4
    picture = Image.new("RGB", size, "white")
    lines, annotations = list[str](), list[dict[str, Any]]()
    for bar in range(bars):
        x, high = 10 + 60 * bar, 20 + number("high", seed, bar) % 100
        colour = COLOURS[number("colour", seed, bar) % len(COLOURS)]
        word = WORDS[number("word", seed, bar) % len(WORDS)]
        box = (float(x), float(160 - high), float(x + 40), 160.0)
        picture.paste(colour, (x, 160 - high, x + 40, 160))
        shown = word.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        lines.append(f'<rect x="{x}" y="{160 - high}" width="40" height="{high}" fill="{colour}"/>')
        lines.append(f'<text x="{x}" y="175">{shown}</text>')
        annotations.append(annotation(2 * bar, f"bar {bar + 1}", "", box))
        annotations.append(annotation(2 * bar + 1, "label", word, (float(x), 165.0, float(x + 50), 180.25)))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{size.width}" height="{size.height}">'
    code = "\n".join((head, *lines, "</svg>"))
    return record(code, picture, annotations, seed)


def record(code: str, picture: Image.Image, annotations: list[dict[str, Any]], seed: int) -> dict[str, Any]:
    """A document of code, picture and annotations, the code first or the picture."""
    out = io.BytesIO()
    picture.save(out, "PNG")
    block = fenced(code, "svg")
    text = f"{MEDIUM_CHAR}\n\n{block}" if seed % 2 else f"{block}\n\n{MEDIUM_CHAR}"
    start = text.index(code)
    known: dict[str, Any] = {
        "kind": "svg",
        "language": "svg",
        "code_chars": [start, start + len(code)],
        "family": "bars",
        "views": [],
        "code_forms": {"minified": code.replace("\n", "")} if seed % 3 else None,
        "split": SPLITS[seed % len(SPLITS)],
    }
    sha = hashlib.sha256(out.getvalue()).digest()
    medium = {"kind": "image", "sha256": sha, "mime": "image/png", "bytes": out.getvalue()}
    return {
        "id": record_id("key", "scenes", str(seed)),
        "content_hash": content_hash(text.encode(), [sha]),
        "domain": "vision",
        "source": "render/svg",
        "text": text,
        "media": [{**medium, "width": picture.width, "height": picture.height, "annotations": annotations}],
        "meta": json.dumps({"render": known}),
    }


def batch_of(records: list[dict[str, Any]]) -> pa.RecordBatch:
    """Documents of these columns."""
    named = {name: [r.get(name) for r in records] for name in records[0]} if records else {"text": []}
    return document_batch({name: pa.array(values, DOCUMENT.field(name).type) for name, values in named.items()})


def element(role: str, text: str, box: Box, **more: Any) -> Element:
    """An element as the forms see it."""
    middle = ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
    given: dict[str, Any] = {"visible": box, "point": middle, "visible_frac": 1.0, "truncated": False} | more
    return Element(f"{role}/{text}", role, text, box, **given)


def scene(elements: list[Element], code: str = "<svg/>") -> Scene:
    """A scene of these elements."""
    return Scene("0" * 32, code, "svg", Size(100, 100), tuple(elements), {})
