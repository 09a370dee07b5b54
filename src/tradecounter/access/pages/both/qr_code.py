"""Draws QR codes."""

import segno
from markupsafe import Markup

_SCALE = 4  # pixels: fits into a panel on a phone


def qr_code(text: str) -> Markup:
    """Return a QR code as inline SVG, black on white in dark pages too, without styles that a content policy blocks."""
    drawing = segno.make_qr(text, error="m").svg_inline(scale=_SCALE, dark="#000", light="#fff", title="QR code")
    return Markup(drawing)  # noqa: S704 the library escapes the title, and the rest is its own
