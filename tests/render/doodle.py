"""A small real domain: doodles, a drawing language of rectangles and discs, drawn by Pillow and judged by numpy.

    canvas 96 64 #ffffff
    rect 8 40 20 60 #aa3311
    disc 60 30 12 #2255cc

`tremble` draws one pixel by a clock that the engine alone knows, `crash` ends the engine's process, `sleep` keeps it
busy: what an engine may do to us. A recipe names this file: `render: {"./doodle.py:Doodle": 40}`.
"""

import io
import json
import math
from collections.abc import Mapping, Sequence

import numpy as np
from PIL import Image, __version__

from gristmill.manifests.child import ChildFailure, ChildLimits
from gristmill.manifests.effects import ask_child
from gristmill.render.draws import Draws
from gristmill.render.protocol import Annotation, Code, EngineState, Part, Rejected, Report, Shot, Spec, View
from gristmill.stages.protocol import Reason, Rule

ENGINE = "tests.render.doodle_engine:factory"
LIMITS = ChildLimits(max_seconds_per_record=2.0, max_rss_bytes=1 << 30)
MAX_LINES = 200
COLOURS = ("#aa3311", "#2255cc", "#118844", "#cc9900", "#553388", "#cc3388", "#117788", "#664422")
FAMILIES = ("bars", "dots", "flags", "murky")
BLANK_FRAC = 0.01


class Doodle:
    """See the module."""

    name = "doodle"
    version = 1

    def families(self) -> tuple[str, ...]:
        return FAMILIES

    def sample_spec(self, family: str, draws: Draws) -> Spec:
        view = View(draws.integer(80, 160), draws.integer(60, 120), draws.pick((1.0, 1.0, 2.0)))
        params = {
            "count": draws.integer(2, 9),
            "ground": draws.pick(("#ffffff", "#f4f0e8", "#202428")),
            "seed": draws.integer(0, 1 << 30),
        }
        return Spec(family, view, params)

    def to_code(self, spec: Spec) -> Code:
        view, params = spec.view, spec.params
        draws = Draws("doodle shapes", spec.family, params["seed"])
        lines = [f"canvas {view.width_px} {view.height_px} {params['ground']}"]
        parts: list[Part] = []
        for number in range(params["count"]):
            shape, role = _shape(spec.family, number, params["count"], (view.width_px, view.height_px), draws)
            lines.append(shape)
            parts.append(Part(str(number), role, f"{role} {number}"))
        return Code("\n".join(lines) + "\n", "doodle", spec.family, view, tuple(parts))

    def existing(self, body: bytes) -> Code:
        try:
            text = body.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Rejected("bad_utf8", str(error)) from error
        words = text.partition("\n")[0].split()
        if (
            len(words) != 4
            or words[0] != "canvas"
            or not all(word.isdecimal() and len(word) < 5 for word in words[1:3])
        ):
            raise Rejected("bad_doodle", text[:40])
        if text.count("\n") > MAX_LINES:
            raise Rejected("too_many_lines", str(text.count("\n")))
        return Code(text, "doodle", "existing", View(int(words[1]), int(words[2])))

    def render(self, code: Code) -> Shot:
        scale = code.view.scale
        answer = ask_child(ENGINE, LIMITS, [json.dumps([code.text, scale]).encode()])[0]
        if isinstance(answer, ChildFailure):
            if answer.kind == "error":
                raise Rejected("bad_doodle", answer.detail)
            raise Rejected("engine_lost", f"{answer.kind}: {answer.detail}", "quarantine")
        width, height = round(code.view.width_px * scale), round(code.view.height_px * scale)
        return Shot(answer, width, height, f"pillow {__version__}")

    def annotate(self, code: Code, shot: Shot) -> tuple[Annotation, ...]:
        ids, alone = id_map(code)
        roles = {int(part.key): part for part in code.parts}
        found: list[Annotation] = []
        for number, full in enumerate(alone):
            mine = ids == number + 1
            if mine.sum() < 8:
                continue
            y, x = np.argwhere(mine)[int(mine.sum()) // 2]
            part = roles.get(number, Part(str(number), "shape", ""))
            frac = float(mine.sum() / full.sum())
            box, seen = _box(full), _box(mine)
            cut = box[0] == 0 or box[1] == 0 or box[2] == shot.width or box[3] == shot.height
            found.append(
                Annotation(str(number), part.role, part.text, box, seen, (x + 0.5, y + 0.5), frac, cut, number)
            )
        return tuple(found)

    def verify(self, code: Code, shot: Shot, annotations: Sequence[Annotation]) -> Report:
        with Image.open(io.BytesIO(shot.png)) as opened:
            drawn = np.asarray(opened.convert("RGB")).astype(np.int16)
        judged = painted(code).astype(np.int16)
        unmatched = float((np.abs(drawn - judged).max(axis=2) > 48).sum()) if drawn.shape == judged.shape else math.inf
        ink = float((judged != judged[0, 0]).any(axis=2).mean())
        hidden = float(len(code.parts) - len(annotations)) if code.parts else math.nan
        return Report({"ink_frac": ink, "unmatched_px": unmatched, "hidden_parts": hidden}, f"numpy {np.__version__}")

    def skeleton(self, code: Code) -> str:
        return " ".join(line.split()[0] for line in code.text.splitlines() if line.strip())

    def rules(self) -> tuple[Rule, ...]:
        return (
            Rule("ink_frac", "below", BLANK_FRAC, "blank"),
            Rule("unmatched_px", "above", 60, "engines_disagree"),
            Rule("hidden_parts", "above", 1, "hidden"),
        )

    def reasons(self) -> tuple[Reason, ...]:
        return (
            Reason("bad_utf8", "drop", "a file that is not UTF-8"),
            Reason("bad_doodle", "drop", "code that is no doodle"),
            Reason("too_many_lines", "drop", "a doodle of too many lines; detail is their number"),
            Reason("engine_lost", "quarantine", "the engine died, ran out of memory or of time"),
        )

    def engines(self) -> tuple[EngineState, ...]:
        return (EngineState("pillow", __version__, True, "draws and encodes"),)

    def fingerprint(self) -> Mapping[str, str]:
        return {"pillow": __version__, "numpy": np.__version__, "font.none": "no font is used"}


def _shape(family: str, number: int, count: int, size: tuple[int, int], draws: Draws) -> tuple[str, str]:
    width, height = size
    colour = COLOURS[(number + draws.integer(0, 3)) % len(COLOURS)]
    if family == "bars":
        step = width // count
        top = draws.integer(4, height - 12)
        return f"rect {number * step + 1} {top} {(number + 1) * step - 1} {height - 4} {colour}", "bar"
    if family == "dots":
        radius = draws.integer(4, 14)
        return f"disc {draws.integer(8, width - 8)} {draws.integer(8, height - 8)} {radius} {colour}", "dot"
    if family == "flags":
        band = height // count
        if draws.chance(0.3):
            return f"disc {width // 2} {number * band + band // 2} {max(3, band // 2)} {colour}", "emblem"
        return f"rect 0 {number * band} {width} {(number + 1) * band} {colour}", "band"
    return f"rect 0 0 {draws.integer(1, width)} {draws.integer(1, height)} {colour}", "patch"


def _lines(code: Code) -> list[list[str]]:
    return [line.split() for line in code.text.splitlines()[1:] if line.split()[:1] in (["rect"], ["disc"])]


def _covers(code: Code) -> list[np.ndarray]:
    scale = code.view.scale
    width, height = round(code.view.width_px * scale), round(code.view.height_px * scale)
    y, x = np.mgrid[0:height, 0:width]
    masks: list[np.ndarray] = []
    for kind, *words in _lines(code):
        at = [float(word) * scale for word in words[:-1]]
        if kind == "rect":
            masks.append((x >= at[0]) & (x < at[2]) & (y >= at[1]) & (y < at[3]))
        else:
            masks.append((x + 0.5 - at[0]) ** 2 + (y + 0.5 - at[1]) ** 2 <= at[2] ** 2)
    return masks


def id_map(code: Code) -> tuple[np.ndarray, list[np.ndarray]]:
    """Which shape owns each pixel (from 1), and the pixels that each would have alone."""
    masks = _covers(code)
    width, height = round(code.view.width_px * code.view.scale), round(code.view.height_px * code.view.scale)
    ids = np.zeros((height, width), np.int32)
    for number, mask in enumerate(masks, 1):
        ids[mask] = number
    return ids, masks


def painted(code: Code) -> np.ndarray:
    """The picture as numpy draws it: uint8[height, width, 3]."""
    ids, _ = id_map(code)
    colours = [code.text.split()[3], *(words[-1] for words in _lines(code))]
    table = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in colours], np.uint8)
    return table[ids]


def _box(mask: np.ndarray) -> tuple[float, float, float, float]:
    columns, rows = np.flatnonzero(mask.any(axis=0)), np.flatnonzero(mask.any(axis=1))
    return float(columns[0]), float(rows[0]), float(columns[-1] + 1), float(rows[-1] + 1)
