"""The process that a Spark executor forks its Python workers from, with what tasks need imported once for all of them.

Spark runs it in place of `pyspark.daemon` (`spark.python.daemon.module`), with the module of the workers as argument.
A worker that imports for itself takes 2.3 s of processor time before its first task.
"""

import gc
import os


def preload() -> None:
    """Import every kind of task and every built-in stage. No thread may run when workers are forked."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # its threads would, and begin with the first import of numpy
    from gristmill.pipeline.preload import import_all

    import_all()
    gc.freeze()  # else each worker copies pages to count what it never frees


if __name__ == "__main__":
    preload()
    from pyspark.daemon import manager

    manager()
