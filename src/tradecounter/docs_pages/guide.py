"""The customers' guide as a page, rendered from `guide-customers.md`, and its programs for this service's address."""

import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from msgspec import Struct

from tradecounter.docs_pages.samples.languages import LANGUAGES
from tradecounter.docs_pages.samples.plan import Plan, Request
from tradecounter.edge.page_kit.markdown import render_document
from tradecounter.edge.page_kit.page import Page, static_address
from tradecounter.edge.page_kit.templates import page_templates
from tradecounter.edge.rest.operation import ANY_ADDRESS, EXAMPLE_ADDRESS

_CODE = re.compile(r"^```\w+\n(.*?)^```", re.DOTALL | re.MULTILINE)
_PICTURE = re.compile(r"\.\./edge/page_kit/static/([\w.-]+)")  # as the file itself shows them
_DOCUMENTS = ("docs", "openapi.json", "openapi.yaml")


def render_guide(document: Mapping[str, Any], *, sandbox: bool) -> Page:
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


KEY_PLACE = "YOUR_KEY"  # in Power Query, which reads no environment

_QUERY = {"inStock": "true", "sort": "price", "limit": "3"}


class Sample(Struct, frozen=True):
    """A piece of code; `language` is the highlighter's name. `note` says where it goes."""

    title: str
    language: str
    code: str
    note: str


_NOTES = {
    "curl": "For a terminal. It reads the key from the variable KEY.",
    "Python": "For Python 3 with the package requests. It reads the key from the variable KEY.",
    "JavaScript": "For Node.js 18 or newer, as a file that ends with .mjs. It reads the key from the variable KEY.",
    "PHP": "For PHP with its curl extension. It reads the key from the variable KEY.",
}


def first_line(base_url: str, key: str) -> str:
    """Return the shell command that shows the account of a key."""
    return f'curl -sS --fail-with-body -H "X-Api-Key: {key}" "{base_url}/customer"'


def set_key(key: str) -> list[Sample]:
    """Return the commands that put a key into the environment, for each kind of shell."""
    return [
        Sample(
            title="Linux and macOS",
            language="bash",
            code=f"export KEY={key}",
            note="In a terminal, for the programs that are started from it.",
        ),
        Sample(title="PowerShell", language="text", code=f'$env:KEY = "{key}"', note="On Windows, in PowerShell."),
    ]


def samples(base_url: str, key: str = KEY_PLACE) -> list[Sample]:
    """Return how to read three products, in each language; the two of spreadsheets read the whole catalogue."""
    plan = Plan(Request("GET", f"{base_url}/product", _QUERY, accept=True))
    programs = [
        Sample(title=title, language=language, code=write(plan), note=_NOTES[title])
        for title, (language, write) in LANGUAGES.items()
    ]
    return [
        *programs,
        Sample(
            title="Power Query",
            language="text",
            code=guide_code("Excel (Power Query)", base_url).replace(KEY_PLACE, key),
            note="For Excel and Power BI: Data, Get Data, From Other Sources, Blank Query, Advanced Editor. "
            "When Excel asks how to connect, choose Anonymous.",
        ),
        Sample(
            title="Google Sheets",
            language="javascript",
            code=guide_code("Google Sheets", base_url),
            note="For Extensions, Apps Script. Put the key into the script property KEY (Project Settings), "
            "run updateProducts once, and have a trigger run it every hour.",
        ),
    ]
