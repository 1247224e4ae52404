"""The formats by name, and the source that a request asks of one."""

from collections.abc import Mapping
from typing import Any

from gristmill.manifests.errors import UsageError
from gristmill.manifests.manifest import read_manifest
from gristmill.pipeline.export import hf, mds, megatron, webdataset
from gristmill.pipeline.export.document_source import open_texts, open_tokenised, starts_of
from gristmill.pipeline.export.row_source import open_rows, refuse_places
from gristmill.pipeline.export.shape import Format, Request, Source, Unit

FORMATS: Mapping[str, Format] = {f.name: f for f in (hf.FORMAT, mds.FORMAT, webdataset.FORMAT, megatron.FORMAT)}


def open_source(request: Request) -> Source:
    """The samples of a request. Raises UsageError where the format cannot hold them, InputError without a manifest."""
    manifest = read_manifest(request.dataset)
    unit = _unit(request, manifest)
    if unit != "row" and request.order != "stored":
        remedy = "let the trainer shuffle, or export rows"
        raise UsageError("only rows have an order to shuffle by", "--order", request.order, remedy)
    if unit == "row":
        return open_rows(request, refuse_places(request, manifest["totals"]["rows"]))
    if unit == "text":
        return open_texts(request, manifest, refuse_places(request, int(starts_of(manifest["shards"])[-1])))
    if not manifest["tokenised"]:
        remedy = "export it with --unit row"
        raise UsageError("no tokenised documents lie behind these rows", str(request.dataset), None, remedy)
    return open_tokenised(request, manifest, refuse_places(request, int(starts_of(manifest["tokenised"])[-1])))


def _unit(request: Request, manifest: Mapping[str, Any]) -> Unit:
    form, where = FORMATS[request.format], str(request.dataset)
    if manifest["kind"] == "documents":
        if "text" not in form.units:
            remedy = "name a dataset that ends in `emit`, or export it as hf or webdataset"
            raise UsageError(f"{form.name} holds tokens, and this is a dataset of documents", where, None, remedy)
        if request.unit not in (None, "text"):
            raise UsageError("holds documents, not trainer rows", "--unit", request.unit, "leave it out")
        return "text"
    return request.unit or form.units[0]
