"""Pouring pieces into rooms as a numba kernel: `pipeline.fill` has the rules, `pipeline.pack_plain` the twin.

Import this module only where it is used: it compiles (once, cached) on first call.
"""

import numpy as np
import numpy.typing as npt
from numba import njit

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@njit(cache=True)
def pour(
    length: Ints, ends_doc: Bools, room: Ints, slots: Ints, context: int, max_pieces: int
) -> tuple[Ints, Ints, Ints, Ints, Bools]:
    """Fragments of pieces, in order: (source, shift, taken, row, separator).

    length, ends_doc: of each piece; room, slots: tokens, and pieces, that each row still takes, at least 1 each. A
    fragment is `taken` tokens of piece `source` from its token `shift` on. It stands in one of these rows, filled one
    after the other, or, when all are full, in a new one, numbered behind them, where no piece is cut any more. The
    end of a document has a separator unless there is no room for it.
    """
    most = 2 * len(length) + len(room)
    fragments = np.empty((4, most), dtype=np.int64)
    separator = np.zeros(most, dtype=np.bool_)
    made, row, left, places = 0, -1, 0, 0
    for piece in range(len(length)):
        done = 0
        while done < length[piece]:
            rest = length[piece] - done
            whole = min(rest + ends_doc[piece], context)
            while places == 0 or left < (1 if row < len(room) else whole):
                row += 1
                left = room[row] if row < len(room) else context
                places = slots[row] if row < len(room) else max_pieces
            taken = min(rest, left)
            fragments[0, made], fragments[1, made], fragments[2, made], fragments[3, made] = piece, done, taken, row
            separator[made] = taken == rest and ends_doc[piece] and left > taken
            left -= taken + separator[made]
            places -= 1
            done += taken
            made += 1
    return fragments[0, :made], fragments[1, :made], fragments[2, :made], fragments[3, :made], separator[:made]
