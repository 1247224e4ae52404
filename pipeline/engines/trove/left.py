"""What drivers that are no more left of their jobs in an output: any engine's run takes it away, holding the lock."""

import shutil
from pathlib import Path

from gristmill.pipeline.own_files import JOBS


def clear_left_jobs(root: Path) -> None:
    """Cancel what still waits on Slurm, and remove the folders; where there is no scancel, a job's folder stays for as
    long as it may wait."""
    if not (root / JOBS).is_dir():
        return
    from gristmill.pipeline.engines.trove.job import is_old, left_jobs
    from gristmill.pipeline.engines.trove.slurm import cancel

    for job in left_jobs(root):
        if not job.array_ids.exists():
            job.remove()
        elif shutil.which("scancel") is not None:
            cancel(job)
            job.remove()
        elif is_old(job):
            job.remove()
