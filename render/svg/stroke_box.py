"""The box in pixels of what cairo gives a box for in the user's own axes.

cairo measures a stroke in pixels and gives the box that holds this one in the user's axes. Put back into pixels that
box grows once more wherever axes are turned or slanted; here the first one is found again. Pure.
"""

Bounds = tuple[float, float, float, float]
Matrix = tuple[float, float, float, float, float, float]

_SINGULAR_FRAC = 0.02


def device_box(box: Bounds, matrix: Matrix) -> Bounds | None:
    """The box in pixels of a user box under a matrix (xx, yx, xy, yy, x0, y0); None where it cannot be told.

    That is near turns by 45 degrees, where all boxes of one sum of sides give the same.
    """
    xx, yx, xy, yy, x0, y0 = matrix
    area = abs(xx * yy - xy * yx)
    straight, crossed = abs(xx * yy), abs(xy * yx)
    if area == 0 or abs(straight - crossed) <= _SINGULAR_FRAC * (straight + crossed):
        return None
    wide, high = (box[2] - box[0]) * area, (box[3] - box[1]) * area
    # The sides of the user box times the area: |yy| w + |xy| h and |yx| w + |xx| h.
    width = (abs(xx) * wide - abs(xy) * high) / (straight - crossed)
    height = (abs(yy) * high - abs(yx) * wide) / (straight - crossed)
    mid_x, mid_y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    x, y = xx * mid_x + xy * mid_y + x0, yx * mid_x + yy * mid_y + y0
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2
