"""A filter of datatrove as a stage: its verdicts, its reasons and what it cut, in our ledger.

    - datatrove: {GopherQualityFilter: {min_doc_words: 20}}

names a class of `datatrove.pipeline.filters` and its parameters (`classes`); `filter:` and `params:` say the same. The
filter sees what datatrove's own step would show it (`documents`), in batches of its own `batch_size` where it has a
`filter_batch`. Verdicts:

| reason | verdict | |
|---|---|---|
| a word of REASONS | drop | the filter's own reason, where it is one that datatrove's filters are known to give |
| datatrove | drop | the filter gave no reason, or another one: `detail` holds it, up to 300 characters of one line |
| datatrove_error | quarantine | the filter raised on this record, or did what no filter may do; `detail` says what |
| datatrove_text | cut | characters that the filter took out of the text; negative where it wrote more than it took |

What a filter writes into metadata goes to `meta` under `datatrove`. A filter that lacks a file, a package or the
network stops the run instead: `prepare` asks it about one ordinary document first. LanguageFilter, C4BadWordsFilter,
UnigramLogProbFilter and GlotLID download on first use; URLFilter uses the suffix list that tldextract brings.
FastTextClassifierFilter takes `model_url` as a file of yours, whose digest decides. Texts become Python strings and
datatrove's words, tens of bytes for one: memory is that of datatrove, not of our stages.
"""

import contextlib
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field
from itertools import islice
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
import pyarrow as pa

from gristmill.manifests.errors import GristmillError, UsageError
from gristmill.stages.columns import with_column, with_rows
from gristmill.stages.datatrove import classes, documents
from gristmill.stages.doc_filter import describe_error, one_line
from gristmill.stages.params import file_param, param
from gristmill.stages.protocol import Mapped, Reason, RowVerdict

OTHER, ERROR, TEXT = "datatrove", "datatrove_error", "datatrove_text"

_GOPHER = (
    *("gopher_short_doc", "gopher_long_doc", "gopher_below_avg_threshold", "gopher_above_avg_threshold"),
    *("gopher_too_many_hashes", "gopher_too_many_ellipsis", "gopher_too_many_bullets", "gopher_too_many_end_ellipsis"),
    *("gopher_below_alpha_threshold", "gopher_enough_stop_words"),
)
_REPETITION = ("empty", "dup_para_frac", "dup_para_char_frac", "dup_line_frac", "dup_line_char_frac")
_URL = ("domain", "subdomain", "url", "hard_blacklisted", "soft_blacklisted", "blacklisted_subword")
REASONS: Mapping[str, Sequence[str]] = {
    "C4QualityFilter": ("lorem_ipsum", "curly_bracket", "too_few_sentences"),
    "C4ParagraphFilter": ("< 3 paragraphs",),
    "C4BadWordsFilter": ("document_removed_with_badwords",),
    "FineWebQualityFilter": ("empty", "line_punct_ratio", "short_line_ratio", "char_dup_ratio", "list_ratio"),
    "GopherQualityFilter": _GOPHER,
    "GopherRepetitionFilter": _REPETITION,
    "URLFilter": _URL,
}
"""The reasons of datatrove 0.10's filters; those of GopherRepetitionFilter's n-grams follow from its parameters."""

_PROBE = "The people of that place have been with us, to see what it can be and do. " * 3


class _Outcome(NamedTuple):
    """What a filter said of a row, and what it wrote; `error` "" where it could say something."""

    keeps: bool
    reason: str
    error: str
    text: str | None = None
    meta: str | None = None
    lang: str | None = None


@dataclass(frozen=True)
class DatatroveFilter:
    """A filter of datatrove by its name: `datatrove: {GopherQualityFilter: {min_doc_words: 20}}`."""

    name: ClassVar[str] = "datatrove"
    version: ClassVar[int] = 1

    filter: str = param(MISSING, "a class of datatrove.pipeline.filters, also written `datatrove: {CLASS: {...}}`")
    params: Mapping[str, Any] = field(
        default_factory=dict[str, Any], metadata={"doc": "parameters of the class, as datatrove names them"}
    )
    model: str | None = file_param(None, "the model of FastTextClassifierFilter (its model_url), a file")

    def __post_init__(self) -> None:
        if classes.MODEL_PARAM in self.params:
            remedy = "write `datatrove: {CLASS: {model_url: FILE}}`, or `model: FILE`"
            raise UsageError("names a model that is no file", self._where, self.params[classes.MODEL_PARAM], remedy)
        classes.check(self.filter, self._given())

    @classmethod
    def spelled(cls, params: Mapping[str, object]) -> Mapping[str, object]:
        """Fields from `{CLASS: {...}}`; what names fields stays as it is. Raises UsageError."""
        if not params or {"filter", "params", "model"} & set(params):
            return params
        if len(params) > 1:
            raise UsageError("one filter a step", "stage datatrove", ", ".join(params), "write a step for each")
        ((name, given),) = params.items()
        where = classes.where_of(name)
        if given is not None and not isinstance(given, Mapping):
            raise UsageError("parameters are a mapping", where, given, "write `{param: value}`, or {}")
        values = dict(cast(Mapping[str, object], given or {}))
        found: dict[str, object] = {"filter": name, "params": values}
        model = values.get(classes.MODEL_PARAM)
        if isinstance(model, str) and "://" not in model:
            found["model"] = values.pop(classes.MODEL_PARAM)
        elif model is not None:
            remedy = "fetch it, and name the file: what an address gives may change"
            raise UsageError("model_url: not a file", where, model, remedy)
        return found

    def package_versions(self) -> Mapping[str, str]:
        """Of datatrove and what its filters stand on."""
        return classes.package_versions()

    def reasons(self) -> tuple[Reason, ...]:
        """The filter's own, then those of every filter."""
        own = (Reason(word, "drop", f"{self.filter}: {said}") for said, word in self._words().items())
        return (
            *own,
            Reason(OTHER, "drop", "the filter gave no reason, or one of its own: detail"),
            Reason(ERROR, "quarantine", "the filter raised on this record: detail"),
            Reason(TEXT, "drop", "characters that the filter took out of the text; negative: that it wrote"),
        )

    def prepare(self) -> None:
        """Ask the filter about one ordinary document, so that what it lacks is told before the run.

        Raises UsageError where it cannot say anything, InputError where a file, a package or the network is missing.
        """
        from datatrove.data import Document

        probe = Document(_PROBE, "probe", metadata={"url": "https://example.com/a", "language": "en"})
        try:
            with contextlib.redirect_stdout(sys.stderr):
                self._made().filter_batch([probe])
        except GristmillError:
            raise
        except Exception as error:  # foreign code: whatever it raises, no record can pass
            classes.stop_if_lacking(self.filter, error)
            what = "the filter fails on an ordinary document"
            raise UsageError(what, self._where, describe_error(error), "mend its parameters") from error

    def transform(self, batch: pa.RecordBatch) -> Mapped:
        """The rows with what the filter wrote; a verdict for each that it drops or fails on."""
        with contextlib.redirect_stdout(sys.stderr):
            outcomes = list(self._outcomes(batch))
        words, verdicts = self._words(), list[RowVerdict]()
        for row, outcome in enumerate(outcomes):
            if outcome.error:
                verdicts.append(RowVerdict(row, "quarantine", ERROR, detail=outcome.error))
            elif not outcome.keeps:
                reason = words.get(outcome.reason, OTHER)
                detail = "" if reason == outcome.reason else one_line(outcome.reason)
                verdicts.append(RowVerdict(row, "drop", reason, detail=detail))
        return _mapped(batch, outcomes, tuple(verdicts))

    def _outcomes(self, batch: pa.RecordBatch) -> Iterator[_Outcome]:
        made = self._made()
        rows = documents.documents_of(batch)
        metas, size = batch.column("meta"), _batch_size(made)
        row = 0
        while part := list(islice(rows, size)):
            before = [(document.text, dict(document.metadata), document.id, len(document.media)) for document in part]
            for said, document, old in zip(self._ask(made, part), part, before, strict=True):
                yield self._outcome(said, document, old, metas[row].as_py())
                row += 1

    def _ask(self, made: Any, part: list[Any]) -> list[Any]:
        """What the filter says of each document: its answer, or the exception that it raised."""
        if len(part) > 1:
            copies = [_copied(document) for document in part]
            try:
                answers = list(made.filter_batch(copies))
                if len(answers) == len(part):
                    part[:] = copies
                    return answers
            except (Exception, SystemExit) as error:  # foreign code; who is to blame is found by asking one by one
                classes.stop_if_lacking(self.filter, error)
        return [self._ask_one(made, document) for document in part]

    def _ask_one(self, made: Any, document: Any) -> Any:
        try:
            (said,) = made.filter_batch([document])
            return said
        except MemoryError:
            raise  # the machine's, not the record's
        except (Exception, SystemExit, GeneratorExit) as error:  # foreign code: the record's fate, told and counted
            classes.stop_if_lacking(self.filter, error)
            return error

    def _outcome(self, said: Any, document: Any, old: tuple[str, dict[str, Any], str, int], meta: Any) -> _Outcome:
        text_before, metadata_before, id_before, media_before = old
        try:
            if isinstance(said, BaseException):
                return _Outcome(False, "", describe_error(said))
            keeps, reason = said if isinstance(said, tuple) else (said, None)
            if not keeps:
                return _Outcome(False, "" if reason is None else str(reason), "")
            if document.id != id_before or len(document.media) != media_before:
                raise documents.NotAFiltersWork("the id or the media were changed")
            text = documents.checked_text(text_before, document)
            text.encode()
            changes = documents.written(metadata_before, document)
            made = documents.with_written(meta, changes) if changes else None
            lang = changes.get("language")
            new_lang = lang if isinstance(lang, str) else None
            return _Outcome(True, "", "", None if text == text_before else text, made and _sound(made), new_lang)
        except Exception as error:  # foreign values: the record's fate, told and counted
            return _Outcome(False, "", describe_error(error))

    def _words(self) -> dict[str, str]:
        """What the filter says -> the word of our vocabulary."""
        known = [*REASONS.get(self.filter, ())]
        if self.filter == "GopherRepetitionFilter":
            made = self._made()
            known += [f"top_{n}_gram" for n, _ in made.top_n_grams]
            known += [f"duplicated_{n}_n_grams" for n, _ in made.dup_n_grams]
        return {said: re.sub(r"[^a-z0-9_]+", "_", said.lower()).strip("_") for said in known}

    def _made(self) -> Any:
        return classes.make(self.filter, self._given())

    def _given(self) -> dict[str, Any]:
        return {**self.params, **({classes.MODEL_PARAM: self.model} if self.model else {})}

    @property
    def _where(self) -> str:
        return classes.where_of(self.filter)


def _batch_size(made: Any) -> int:
    """How many documents the filter is shown at once: one, unless it has a `filter_batch` of its own."""
    from datatrove.pipeline.filters.base_filter import BaseFilter

    own: Any = type(made).filter_batch
    return max(1, made.batch_size) if own is not BaseFilter.filter_batch else 1


def _copied(document: Any) -> Any:
    return type(document)(document.text, document.id, list(document.media), dict(document.metadata))


def _sound(text: str) -> str:
    """The text, if it is Unicode. Raises UnicodeEncodeError."""
    text.encode()
    return text


def _mapped(batch: pa.RecordBatch, outcomes: Sequence[_Outcome], verdicts: tuple[RowVerdict, ...]) -> Mapped:
    texts = {row: o.text.encode() for row, o in enumerate(outcomes) if o.text is not None}
    metas = {row: o.meta.encode() for row, o in enumerate(outcomes) if o.meta is not None}
    cut = np.zeros(batch.num_rows, np.int64)
    for row, made in texts.items():
        cut[row] = len(batch.column("text")[row].as_py() or "") - len(made.decode())
    if texts:
        column = batch.column("text")
        anew = with_filled(column, texts) if column.null_count else with_rows(column, texts)
        batch = with_column(batch, "text", anew)
    if metas:
        batch = with_column(batch, "meta", with_filled(batch.column("meta"), metas))
    if any(o.lang is not None for o in outcomes):
        both = zip(batch.column("lang").to_pylist(), outcomes, strict=True)
        langs = [old if o.lang is None else o.lang for old, o in both]
        batch = with_column(batch, "lang", pa.array(langs, pa.string()))
    return Mapped(batch, verdicts, {TEXT: cut} if texts else {})


def with_filled(column: pa.Array, anew: Mapping[int, bytes]) -> pa.Array:
    """As `columns.with_rows`, but a null that is replaced is null no more."""
    values = column.to_pylist()
    for row, made in anew.items():
        values[row] = made.decode()
    return pa.array(values, pa.large_string())
