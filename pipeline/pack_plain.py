"""`pack` in plain Python, as its oracle: the same result by other means, O(n log n) with a large constant."""

from bisect import bisect_left, insort

import numpy as np

from gristmill.manifests.trainer_schema import BREAK_LEVELS, HOLD_END, HOLD_START
from gristmill.pipeline.cut import WINDOW_DIVISOR, Ints, Parts, Structure, parts_of
from gristmill.pipeline.fill import PADDING_PER_MILLION
from gristmill.pipeline.pack import NO_LIMIT, Keys, Pack, checked_keys, content_order, in_places

_Span = tuple[int, int]
_Fragment = tuple[int, int, int, bool, bool]
"""Of a piece: document, offset, length, ends_doc, separator."""


def pack_plain(
    lengths: Ints,
    order_key: Keys,
    context: int,
    structure: Structure | None = None,
    max_segments: int | None = None,
) -> Pack:
    """See `pack`."""
    known = Structure.unknown(len(lengths)) if structure is None else structure
    limit = NO_LIMIT if max_segments is None else max_segments
    keys = checked_keys(lengths, order_key, context, known, limit)
    parts = cut_plain(lengths, context, known)
    rank = {piece: i for i, piece in enumerate(content_order(parts, keys).tolist())}
    pieces = _fragments(parts)
    ranked = sorted(range(len(pieces)), key=rank.__getitem__)
    rows = _best_fit([(i, _size(pieces[i])) for i in sorted(ranked, key=lambda i: -_size(pieces[i]))], context, limit)
    by_row = [[pieces[i] for i in row] for row in rows]
    media = np.diff(known.media_of).tolist()
    liquid = {d for d, n in enumerate(lengths.tolist()) if n > context and not media[d]}
    place = {pieces[i]: r for r, i in enumerate(ranked)}
    return _laid_out(_filled(by_row, liquid, place, context, limit), keys, lengths, context)


def cut_plain(lengths: Ints, context: int, structure: Structure) -> Parts:
    """See `pipeline.cut`."""
    counts: list[int] = []
    offsets: list[int] = []
    for doc, length in enumerate(lengths.tolist()):
        breaks = structure.breaks[structure.breaks_of[doc] : structure.breaks_of[doc + 1]].tolist()
        media = slice(structure.media_of[doc], structure.media_of[doc + 1])
        spans = list(zip(structure.media_start[media].tolist(), structure.media_len[media].tolist(), strict=True))
        found = _cuts(length, context, [divmod(b, BREAK_LEVELS) for b in breaks], [(s, s + n) for s, n in spans])
        counts.append(len(found))
        offsets += found
    return parts_of(lengths, context, np.array(counts, np.int64), np.array(offsets, np.int64))


def _cuts(length: int, context: int, breaks: list[tuple[int, int]], media: list[tuple[int, int]]) -> list[int]:
    """Offsets of the pieces of a document."""
    starts = [p for p, level in breaks if level == HOLD_START]
    ends = [p for p, level in breaks if level == HOLD_END]
    holds = list(zip(starts, ends, strict=True)) if media else []
    apart = sorted(_apart(holds, media, context), key=lambda span: not span[2])
    offsets: list[int] = []
    at = 0
    while at < length:
        offsets.append(at)
        if length - at <= context:
            break
        window = range(at + context - context // WINDOW_DIVISOR, at + context + 1)
        best = max(((level, p) for p, level in breaks if p in window and level < HOLD_END), default=(0, at + context))[
            1
        ]
        for s, e, before in apart:
            if s + (not before) <= best < e and (at < s or (at == s and before)):
                best = s if at < s else e
                break
        at = next((s for s, e in media if at < s < best < e), best)
    return offsets


def _apart(holds: list[_Span], media: list[_Span], context: int) -> list[tuple[int, int, bool]]:
    """Spans that fit into a row and are not cut: holds; of longer ones each medium with what is before it (true), or
    else with what is behind it (false)."""
    found: list[tuple[int, int, bool]] = []
    for low, high in holds:
        if high - low <= context:
            found.append((low, high, True))
            continue
        inside = [m for m in media if low <= m[0] < high]
        edges = [low, *(end for _, end in inside)]
        begins = [*(begin for begin, _ in inside[1:]), high]
        for (begin, end), before, behind in zip(inside, edges, begins, strict=False):
            if end - before <= context:
                found.append((before, end, True))
            elif behind - begin <= context:
                found.append((begin, behind, False))
    return found


def _fragments(parts: Parts) -> list[_Fragment]:
    columns = (parts.doc, parts.doc_offset, parts.length, parts.ends_doc, parts.separator)
    return list(zip(*(c.tolist() for c in columns), strict=True))


def _size(piece: _Fragment) -> int:
    return piece[2] + piece[4]


def _best_fit(falling: list[tuple[int, int]], context: int, limit: int) -> list[list[int]]:
    """Pieces (index, size), given by falling size, row by row."""
    rooms: list[int] = []
    open_rows: dict[int, list[int]] = {}
    rows: list[list[int]] = []
    for piece, size in falling:
        at = bisect_left(rooms, size)
        if at == len(rooms):
            row, room = len(rows), context
            rows.append([])
        else:
            room = rooms[at]
            row = open_rows[room].pop()
            if not open_rows[room]:
                del rooms[at]
        rows[row].append(piece)
        room -= size
        if room and len(rows[row]) < limit:
            if not open_rows.setdefault(room, []):
                insort(rooms, room)
            open_rows[room].append(row)
    return rows


def _filled(
    rows: list[list[_Fragment]], liquid: set[int], place: dict[_Fragment, int], context: int, limit: int
) -> list[list[_Fragment]]:
    """See `pipeline.fill`."""
    rooms = [context - sum(map(_size, row)) for row in rows]
    is_open = [room > 0 and len(row) < limit for room, row in zip(rooms, rows, strict=True)]
    candidates = [r for r, row in enumerate(rows) if all(p[0] in liquid for p in row)]
    gone: set[int] = set()
    for r in sorted(candidates, key=lambda r: -rooms[r]):
        left = len(rows) - len(gone)
        if (sum(rooms) - len(gone) * context) * 1_000_000 <= PADDING_PER_MILLION * left * context:
            break
        apart = gone | {r}
        if sum(context - rooms[g] for g in apart) > sum(
            x for i, x in enumerate(rooms) if is_open[i] and i not in apart
        ):
            break
        gone = apart
    roomy = sorted((r for r in range(len(rows)) if is_open[r] and r not in gone), key=lambda r: -rooms[r])
    moving = sorted((p for r in gone for p in rows[r]), key=place.__getitem__)
    made = {r: [] if r in gone else list(row) for r, row in enumerate(rows)}
    more: list[list[_Fragment]] = []
    for doc, begin, size, ends, _ in moving:
        offset, length = begin, size
        while length:
            while roomy and (not _room(made[roomy[0]], context) or len(made[roomy[0]]) == limit):
                roomy.pop(0)
            if not roomy and (
                not more or len(more[-1]) == limit or _room(more[-1], context) < min(length + ends, context)
            ):
                more.append([])
            row = made[roomy[0]] if roomy else more[-1]
            room = _room(row, context)
            taken = min(length, room)
            row.append((doc, offset, taken, ends and taken == length, ends and taken == length and room > taken))
            offset, length = offset + taken, length - taken
    return [row for r, row in made.items() if r not in gone] + more if len(more) < len(gone) else rows


def _room(row: list[_Fragment], context: int) -> int:
    return context - sum(map(_size, row))


def _laid_out(rows: list[list[_Fragment]], keys: Keys, lengths: Ints, context: int) -> Pack:
    """Rows by the place of their first piece, the largest, in the order of content; so the pieces of a row."""
    flat = [piece for row in rows for piece in row]
    columns = np.array(flat, dtype=np.int64).reshape(-1, 5).T
    parts = Parts(columns[0], columns[1], columns[2], columns[3] > 0, columns[4] > 0)
    rank = {flat[i]: r for r, i in enumerate(content_order(parts, keys).tolist())}
    index = {piece: i for i, piece in enumerate(flat)}
    places: list[tuple[int, int, int]] = []
    for r, row in enumerate(sorted(rows, key=lambda row: rank[row[0]])):
        tight = [p for p in row if p[3] and not p[4] and p[2] < context]
        start = 0
        for piece in [*sorted((p for p in row if p not in tight), key=rank.__getitem__), *tight]:
            places.append((index[piece], r, start))
            start += _size(piece)
    found = np.array(places, dtype=np.int64).reshape(-1, 3).T
    return in_places(parts, (found[0], found[1], found[2]), len(rows), lengths, context)
