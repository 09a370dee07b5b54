"""The customers' guide as a page, rendered from `guide-customers.md`."""

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from tradecounter.page_kit.markdown import render_document
from tradecounter.page_kit.page import Page
from tradecounter.page_kit.templates import page_templates
from tradecounter.rest.any_address import ANY_ADDRESS, EXAMPLE_ADDRESS

_DOCUMENTS = ("docs", "openapi.json", "openapi.yaml")


def render_guide(document: Mapping[str, Any]) -> Page:
    """Return the guide as a page; operation names in it link to the reference."""
    links = {f"/{name}": name for name in _DOCUMENTS}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            links[f"{method.upper()} {path}"] = f"docs#{operation['operationId']}"
    guide = render_document(_source(), links)
    template = page_templates(__package__).get_template("guide.html")
    return Page.of(template.render(guide=guide, here="guide"))


def _source() -> str:
    text = files(__package__).joinpath("guide-customers.md").read_text(encoding="utf-8")
    return text.replace("$BASE", ANY_ADDRESS).replace(EXAMPLE_ADDRESS, ANY_ADDRESS)
