"""The engines in a child as the domain has them, but without the strict reader before them: targets for tests."""

from collections.abc import Callable

from gristmill.render.svg import fonts


def cairo(init: bytes) -> Callable[[bytes], bytes]:
    """Draws by cairosvg, 64 by 64."""
    folder = fonts.with_own_fonts()
    from gristmill.render.svg import cairo_paint

    cairo_paint.draw(b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><text>x</text></svg>', 9, 9)
    fonts.forget(folder)
    return lambda body: cairo_paint.draw(body, 64, 64)[0].tobytes()


def resvg(init: bytes) -> Callable[[bytes], bytes]:
    """Draws by resvg at the document's own size."""
    from gristmill.render.svg import resvg_paint

    return lambda body: resvg_paint.draw(body.decode()).tobytes()
