"""The customers' guide as a page, rendered from `guide-customers.md`."""

import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from tradecounter.edge.page_kit.markdown import render_document
from tradecounter.edge.page_kit.page import Page
from tradecounter.edge.page_kit.static_files import static_address
from tradecounter.edge.page_kit.templates import page_templates
from tradecounter.edge.rest.operation import ANY_ADDRESS, EXAMPLE_ADDRESS

_CODE = re.compile(r"^```\w+\n(.*?)^```", re.DOTALL | re.MULTILINE)
_PICTURE = re.compile(r"\.\./edge/page_kit/static/([\w.-]+)")  # as the file itself shows them
_DOCUMENTS = ("docs", "openapi.json", "openapi.yaml")


def render_guide(document: Mapping[str, Any], *, sandbox: bool = False) -> Page:
    """Return the guide as a page; operation names in it link to the reference."""
    links = {f"/{name}": name for name in _DOCUMENTS}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            links[f"{method.upper()} {path}"] = f"docs#{operation['operationId']}"
    guide = render_document(guide_source(), links)
    template = page_templates(__package__).get_template("guide.html")
    return Page.of(template.render(guide=guide, here="guide", sandbox=sandbox))


def guide_code(heading: str, base_url: str) -> str:
    """Return the first piece of code below a heading, for a base URL. Raises LookupError."""
    _, found, rest = _written().partition(f"# {heading}\n")
    code = _CODE.search(rest)
    if not found or code is None:
        raise LookupError(f"the guide has no code below {heading}")
    return code[1].replace(EXAMPLE_ADDRESS, base_url).strip()


def guide_source() -> str:
    """Return the guide's Markdown, with ANY_ADDRESS in place of the base URL."""
    served = _PICTURE.sub(lambda picture: static_address(picture[1]), _written())
    return served.replace("$BASE", ANY_ADDRESS).replace(EXAMPLE_ADDRESS, ANY_ADDRESS)


def _written() -> str:
    return files(__package__).joinpath("guide-customers.md").read_text(encoding="utf-8")
