"""`README.md` of an export: what it holds and how to read it; a dataset card for the hub where the format is `hf`."""

from collections.abc import Mapping
from typing import Any

from gristmill.pipeline.export.shape import Format

CARD = "README.md"

_HUB = """\
---
configs:
- config_name: default
  data_files:
  - split: train
    path: "data-*.arrow"
---

"""
_COLUMNS = {
    "row": "Samples are packed rows: documents behind one another, filled up with the pad id from `n_tokens` on.\n"
    "Tokens may attend to earlier ones between the same two `cu_seqlens`. Outside of `loss_spans` (start, end,\n"
    "weight) a target weighs 1; padding weighs 0, and so does the first token of each attention group.\n",
    "document": "Samples are whole tokenised documents.\n",
    "text": "Samples are documents: text, and media where U+FFFC stands in it.\n",
}


def card_of(form: Format, what: Mapping[str, Any]) -> str:
    """The text: no clock, no path, no host stands in it."""
    source, asked = what["source"], what["export"]
    order = f"shuffled, seed {asked['seed']}" if asked["order"] == "shuffled" else "stored"
    facts = [
        f"{form.title}, written by gristmill.",
        "",
        f"- samples: {what['totals']['samples']}, of the places {asked['first']} to {asked['stop']}, order {order}",
    ]
    if "tokenizer" in source:
        tokenizer = source["tokenizer"]
        facts += [
            f"- tokens: {what['totals']['tokens']}",
            f"- tokenizer: {tokenizer['name']}, {tokenizer['vocab_size']} ids, eos {tokenizer['eos_id']}, pad "
            f"{tokenizer['pad_id']}, {tokenizer['digest']}",
        ]
    facts += [f"- source: {source['digest']}", "- every file and its digest: `gristmill_export.json`", ""]
    read = f"\nRead it, DIR being this folder:\n\n```python\n{form.reader}\n```\n"
    return (_HUB if form.name == "hf" else "") + "\n".join(facts) + "\n" + _COLUMNS[asked["unit"]] + read
