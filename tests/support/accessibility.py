"""axe-core, the npm package that finds errors of accessibility, in pages of a browser."""

from functools import cache
from typing import Any

from support.browsing import WIDTHS, Tab
from support.node_packages import installed

_RUN = "async options => (await axe.run(document, { resultTypes: ['violations'], ...options })).violations"
_COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"]}  # the rules to which it matters that a page is dark
_DARK = (375, 1280)  # with and without the menu at the side; other widths have no colours of their own
_KNOWN = "() => typeof window.axe === 'object'"
_AT_REST = """() => !document.querySelector(".htmx-request")
    && document.getAnimations().every(animation => animation.playState !== "running")"""

_CUT = """[...document.querySelectorAll(".wide")].filter(frame => frame.scrollWidth > frame.clientWidth + 1)
    .map(frame => frame.getAttribute("aria-label"))"""


@cache
def _axe() -> str:
    folder = installed()
    assert folder is not None, "axe-core is not installed"
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text()


def errors_of(tab: Tab, *, colours_only: bool = False) -> list[str]:
    """What is wrong with the page that a tab shows, however little: rules with the elements that break them.

    What is being loaded or animated is paler, so the page comes to rest first.
    """
    tab.page.wait_for_function(_AT_REST)
    if not tab.page.evaluate(_KNOWN):
        tab.page.evaluate(_axe())
    return [_described(error) for error in tab.page.evaluate(_RUN, _COLOURS if colours_only else {})]


def all_errors(tab: Tab) -> list[str]:
    """What is wrong with the page at any width, light or dark; a page that can be scrolled sideways is wrong too."""
    found = []
    for width in WIDTHS:
        for dark in (False, True) if width in _DARK else (False,):
            tab.resize(width, dark=dark)
            errors = [*(["wider than the window"] if tab.is_too_wide else []), *errors_of(tab, colours_only=dark)]
            found += [f"{width} {'dark' if dark else 'light'}: {error}" for error in errors]
    return found


def what_is_cut(tab: Tab) -> list[str]:
    """What does not fit into the window at the widths of phones, tablets, laptops and desks: the page, or a table."""
    found = []
    for width in (320, 390, 768, 1024, 1280, 1440):
        tab.resize(width)
        tables = tab.run(_CUT)
        found += [f"{width}: {name}" for name in (*(["the page"] if tab.is_too_wide else []), *tables)]
    return found


def _described(error: dict[str, Any]) -> str:
    nodes = error["nodes"]
    first = "; ".join(node["html"][:200] for node in nodes[:3])
    why = " ".join(nodes[0]["failureSummary"].split())
    return f"{error['id']} ({error['impact']}), {len(nodes)} times: {first}: {why}"
