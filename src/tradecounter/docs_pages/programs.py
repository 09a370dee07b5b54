"""Programs that call the API, for this service's address."""

from msgspec import Struct

from tradecounter.docs_pages.guide import guide_code
from tradecounter.docs_pages.samples import LANGUAGES
from tradecounter.docs_pages.samples.plan import Plan, Request

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
            "Linux and macOS", "bash", f"export KEY={key}", "In a terminal, for the programs that are started from it."
        ),
        Sample("PowerShell", "text", f'$env:KEY = "{key}"', "On Windows, in PowerShell."),
    ]


def samples(base_url: str, key: str = KEY_PLACE) -> list[Sample]:
    """Return how to read three products, in each language; the two of spreadsheets read the whole catalogue."""
    plan = Plan(Request("GET", f"{base_url}/product", _QUERY, accept=True))
    programs = [Sample(title, language, write(plan), _NOTES[title]) for title, (language, write) in LANGUAGES.items()]
    return [
        *programs,
        Sample(
            "Power Query",
            "text",
            guide_code("Excel (Power Query)", base_url).replace(KEY_PLACE, key),
            "For Excel and Power BI: Data, Get Data, From Other Sources, Blank Query, Advanced Editor. "
            "When Excel asks how to connect, choose Anonymous.",
        ),
        Sample(
            "Google Sheets",
            "javascript",
            guide_code("Google Sheets", base_url),
            "For Extensions, Apps Script. Put the key into the script property KEY (Project Settings), "
            "run updateProducts once, and have a trigger run it every hour.",
        ),
    ]
