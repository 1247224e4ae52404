"""Task forms of render pairs: questions about a picture and its code, with answers that are true by construction.

In: documents; of those whose `meta` has `render` the code in `text` and the annotations of `media[0]` (see `scene`).
Pairs of more than MAX_TEXT_BYTES stay as they are. Out: the same documents, each render pair followed by up to
`per_record` further ones, one a form. Their `text` has the picture as U+FFFC (none in `to_words`, which asks for it,
nor in `rewrite`, which is of code alone), the question, the coordinate view in words where there are coordinates, and
the answer. Their `meta` is the pair's, where `render` is without what belongs to the text it had (`code_chars`,
`views`, `code_forms`) and `form` is added: `name`, `view` (null, `pixels`, `normalised`; each as often), `answers`
([start, stop) in characters) and `targets` (ids of annotations).

Which forms a record gets, and all that they draw, comes from `seed` and the record's id and content alone. A form gets
no forms itself. Ids are made of the pair's id, the form and the seed: a second step over the same pairs takes another
seed.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.errors import UsageError
from gristmill.stages.columns import with_column
from gristmill.stages.params import param
from gristmill.stages.protocol import DERIVED, Expanded, Reason, RowVerdict
from gristmill.stages.vision.choice import Choice
from gristmill.stages.vision.compare import compare
from gristmill.stages.vision.edit import edit
from gristmill.stages.vision.form import Form, Maker
from gristmill.stages.vision.locate import locate
from gristmill.stages.vision.point import point
from gristmill.stages.vision.read_text import read_text
from gristmill.stages.vision.rewrite import CODE_FORMS, rewrite
from gristmill.stages.vision.scene import META, Scene, scene_of
from gristmill.stages.vision.to_code import to_code
from gristmill.stages.vision.to_words import to_words

FormName = Literal["to_code", "to_words", "locate", "point", "read_text", "edit", "compare", "rewrite"]
FORMS: tuple[FormName, ...] = get_args(FormName)
_MAKERS: Mapping[FormName, Maker] = {
    "to_code": to_code,
    "to_words": to_words,
    "locate": locate,
    "point": point,
    "read_text": read_text,
    "edit": edit,
    "compare": compare,
    "rewrite": rewrite,
}
MAX_TEXT_BYTES = 1 << 20
"""Of a pair: a longer one gets no forms, each of which would hold its code once or twice."""
_OF_TEXT = ("code_chars", "views", CODE_FORMS)
_SEEN = ("width", "height", "annotations")


@dataclass(frozen=True)
class RenderForms:
    """Ask for code, words, boxes, points, texts, changes and differences of render pairs (experimental)."""

    forms: tuple[FormName, ...] = param(FORMS, "which forms")
    per_record: int = param(3, "how many forms a record gets at most, chosen by its content")
    questions: int = param(4, "how many elements one form asks for at most")
    keep: bool = param(True, "whether the pair itself stays")
    seed: int = param(0, "other choices")

    name: ClassVar[str] = "render_forms"
    version: ClassVar[int] = 3

    def __post_init__(self) -> None:
        if not self.forms or len(set(self.forms)) != len(self.forms):
            raise UsageError("none, or one twice", "stage render_forms.forms", list(self.forms), f"of {list(FORMS)}")
        for name in ("per_record", "questions"):
            if not 1 <= getattr(self, name) <= 1000:
                raise UsageError("not 1 to 1000", f"stage render_forms.{name}", getattr(self, name))

    def reasons(self) -> tuple[Reason, ...]:
        """Those of pairs that do not stay."""
        return (
            Reason("replaced_by_forms", "drop", "keep is off, and forms were made of the pair"),
            Reason("no_form", "drop", "keep is off, and no form could be made of the pair"),
            Reason(DERIVED, "drop", "text of the forms (counted as cut, negatively)"),
        )

    def expand(self, batch: pa.RecordBatch) -> Expanded:
        """The forms of each pair of the batch."""
        made: list[tuple[int, FormName, Form, str]] = []
        verdicts: list[RowVerdict] = []
        for row, scene in _scenes(batch):
            forms = self._forms(scene)
            made.extend((row, name, form, _form_meta(scene.meta, name, form)) for name, form in forms)
            if not self.keep:
                verdicts.append(RowVerdict(row, "drop", "replaced_by_forms" if forms else "no_form"))
        parent = np.array([row for row, *_ in made], np.int64)
        further = batch.take(pa.array(parent))
        shown = [row if form.picture else None for row, _, form, _ in made]
        columns: dict[str, pa.Array] = {
            "text": pa.array([form.text for _, _, form, _ in made], pa.large_string()),
            "media": batch.column("media").take(pa.array(shown, pa.int64())),
            "meta": pa.array([meta for *_, meta in made], pa.large_string()),
        }
        for name, column in columns.items():
            further = with_column(further, name, column)
        words = [f"{name} {self.seed}" if self.seed else name for _, name, _, _ in made]
        return Expanded(further, parent, words, tuple(verdicts))

    def _forms(self, scene: Scene) -> list[tuple[FormName, Form]]:
        found: list[tuple[FormName, Form]] = []
        order: list[FormName] = Choice(self.seed, scene.id, scene.code).shuffled([f for f in FORMS if f in self.forms])
        for name in order:
            form = _MAKERS[name](scene, Choice(self.seed, scene.id, scene.code, name), self.questions)
            if form is not None:
                found.append((name, form))
            if len(found) == self.per_record:
                break
        return found


def _form_meta(known: Mapping[str, Any], name: FormName, form: Form) -> str:
    render = {key: value for key, value in known.items() if key not in _OF_TEXT}
    told = {"name": name, "view": form.view, "answers": [list(a) for a in form.answers], "targets": list(form.targets)}
    return json.dumps({META: render, "form": told}, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _scenes(batch: pa.RecordBatch) -> list[tuple[int, Scene]]:
    """The render pairs of a batch; the bytes of pictures are not looked at."""
    metas: Sequence[str | None] = batch.column("meta").to_pylist()
    whole = batch.column("derivation").is_null().to_pylist()
    rows = [row for row, meta in enumerate(metas) if whole[row] and meta and f'"{META}"' in meta]
    found: list[tuple[int, Scene]] = []
    for row in rows:
        held = batch.column("text")[row]
        if not held.is_valid or held.as_buffer().size > MAX_TEXT_BYTES:
            continue
        text = held.as_py()
        record_id = batch.column("id")[row].as_py() or ""
        scene = scene_of(record_id, metas[row] or "", text, _medium(batch.column("media"), row))
        if scene is not None:
            found.append((row, scene))
    return found


def _medium(media: pa.ListArray, row: int) -> dict[str, Any] | None:
    """What is needed of the one medium of a row; None for a row that has none, or more than one."""
    one = media.slice(row, 1)
    if one.null_count or pc.list_value_length(one)[0].as_py() != 1:
        return None
    items = one.flatten()
    return {name: pc.struct_field(items, name)[0].as_py() for name in _SEEN}
