"""Trains a fastText model in a process of its own: `python -m gristmill.pipeline.classifier.fit_child JOB.json`.

JOB: `lines` (a file of `__label__X token token ...`), `out`, `dim`, `word_ngrams`, `bucket`, `epochs`, `lr`,
`min_count`, `max_features`. Trained on one thread: the model's bytes depend on the lines and the parameters alone.

fastText with one thread fills only the first tenth of its input matrix with random numbers, and leaves the rest as it
came from malloc: often what was freed before, which ends in NaN or in another model at each run. The parent therefore
has glibc zero what it allocates. The first tenth holds the frequent words, as words come before hashed n-grams; rows
that begin at zero learn as well, since the output matrix moves as soon as one row of a line is not zero. Without glibc
such a model is not reproducible, and may fail to train.
"""

import errno
import json
import os
import sys
from pathlib import Path
from typing import Any

LABEL_PREFIX = "__label__"
END = b"gristmill: whole"
"""Stands behind a model that was written to its end; the parent takes it off."""
EXIT_NO_ROOM = 28


def fit(job: dict[str, Any]) -> None:
    """Train, quantise where the model has more than `max_features` rows, save."""
    import numpy as np
    from fasttext.FastText import train_supervised

    model = train_supervised(
        job["lines"],
        dim=job["dim"],
        wordNgrams=job["word_ngrams"],
        bucket=job["bucket"],
        epoch=job["epochs"],
        lr=job["lr"],
        minCount=job["min_count"],
        thread=1,
        verbose=0,
        label=LABEL_PREFIX,
    )
    if not np.isfinite(model.get_output_matrix()).all():
        raise FloatingPointError("the model is not finite")
    rows = len(model.words) + job["bucket"]
    if rows > job["max_features"]:
        # The rows of largest norm are kept; retraining would need threads.
        model.quantize(cutoff=job["max_features"], qnorm=True, retrain=False, verbose=False)
    model.save_model(job["out"])
    seal(Path(job["out"]))


def seal(path: Path) -> None:
    """Write END behind a saved model. fastText does not notice when the disk is full, and a model that is cut loads
    as another one or crashes the process; what is written behind a cut model fails, and is noticed."""
    with path.open("ab") as opened:
        opened.write(END)
        opened.flush()
        os.fsync(opened.fileno())


def _main() -> int:
    try:
        fit(json.loads(Path(sys.argv[1]).read_text("utf-8")))
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        return EXIT_NO_ROOM
    return 0


if __name__ == "__main__":
    sys.exit(_main())
