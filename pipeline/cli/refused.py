"""What a machine refuses, not the program: no room, no permission, told as an expected error."""

import errno

from gristmill.manifests.errors import EngineLostError, GristmillError, UsageError

_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NOT_ALLOWED = (errno.EACCES, errno.EPERM, errno.EROFS)


def expected(error: OSError) -> GristmillError | None:
    """The error that a person can act on; None where it is a bug."""
    where = str(error.filename or "")
    if error.errno in _NO_SPACE:
        remedy = "make room and run the same command again to resume"
        return EngineLostError("no space left on the device", where, None, remedy)
    if error.errno in _NOT_ALLOWED:
        return UsageError("not permitted", where, error.strerror, "name a place that you may use")
    return None
