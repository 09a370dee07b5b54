"""The customers' guide, whose lines for generated clients are tried as they stand, and that of the operators."""

import re
from pathlib import Path

_ROOT = Path(__file__).parents[2]
PLACE = _ROOT / "src" / "tradecounter" / "docs_pages" / "guide-customers.md"
_OPERATORS = _ROOT / "docs" / "operators"
_BLOCK = re.compile(r"^```(?P<kind>[^\n]+)\n(?P<content>.*?)^```$", re.MULTILINE | re.DOTALL)


def section(heading: str) -> str:
    """The text under a heading of the third level."""
    [found] = re.findall(rf"^### {re.escape(heading)}\n(.*?)(?=^##)", PLACE.read_text(), re.MULTILINE | re.DOTALL)
    return str(found)


def blocks(heading: str) -> dict[str, str]:
    """The code under a heading, by its language and file name."""
    return {block["kind"]: block["content"] for block in _BLOCK.finditer(section(heading))}


def blocks_of(heading: str) -> list[str]:
    """The code under a heading, in order."""
    return [block["content"] for block in _BLOCK.finditer(section(heading))]


def program_of(kind: str) -> str:
    """The one block of code of a kind, such as `python file=invoices.py`."""
    [found] = [block["content"] for block in _BLOCK.finditer(PLACE.read_text()) if block["kind"] == kind]
    return str(found)


def filled_in(code: str, url: str, key: str) -> str:
    """Code of the guide with the address and the key that readers put in."""
    assert "YOUR_KEY" in code
    return code.replace("https://api.example", url).replace("YOUR_KEY", key)


def operators_page(name: str) -> str:
    """The text of a page of the operators' guide."""
    return (_OPERATORS / f"{name}.md").read_text()


def operators_guide() -> str:
    """The text of all pages of the operators' guide."""
    return "\n".join(page.read_text() for page in sorted(_OPERATORS.glob("*.md")))
