"""Paths of the pages of subjects, as the audit log and events name them."""

from collections.abc import Callable
from urllib.parse import quote

# The path of the page's operation for each noun.
_PAGES = {
    "order": "/order/{reference}",
    "invoice": "/invoice/{number}",
    "credit-note": "/credit-note/{number}",
    "payment": "/payment/{id}",
    "bank-line": "/bank-line/{id}",
    "bank-file": "/bank-file/{id}",
    "customer": "/customer/{id}",
    "product": "/product/{sku}",
    "quote": "/quote/{code}",
    "return": "/return/{number}",
    "import": "/import/{id}",
    "webhook": "/webhook/{id}",
}


def path_of_subject(subject: str, may: Callable[[str], bool]) -> str:
    """Return the path of a subject's page; empty if there is none that the person may open."""
    noun, _, name = subject.partition("/")
    operation = _PAGES.get(noun)
    if operation is None or not name or not may(operation):
        return ""
    return f"/{noun}/{quote(name, safe='')}"
