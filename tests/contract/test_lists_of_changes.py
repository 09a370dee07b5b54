"""Every list of the interfaces takes `changed_since`, or says here why not."""

from collections.abc import Mapping

import pytest

from support.interface import Document, backoffice_document, interface_document, resolve

BACK_OFFICE = {
    "/api/audit": "entries never change, and `from` begins at a moment",
    "/api/event": "events never change, and `after` goes on behind the last one",
    "/api/debtor": "who has paid is no debtor, and would be missed: what is due changes with invoices, which have it",
}
CUSTOMERS = {
    "/product": "`/catalogue/change` has what changed, from the `X-Cursor` of the list on",
    "/catalogue/change": "it is what changed since a cursor",
    "/category": "derived from products, which `/catalogue/change` has; 304 while it is the same",
    "/manufacturer": "derived from products, which `/catalogue/change` has; 304 while it is the same",
    "/attribute": "derived from products, which `/catalogue/change` has; 304 while it is the same",
    "/quote": "`/event` tells of each change: `quote.requested`, `quote.priced`, `quote.declined`, `quote.expired`",
    "/request": "`/event` tells of each change: `request.opened`, `request.closed`",
    "/customer/address": "one response without pages, which also shows what was deleted",
    "/invoice": "what is issued never changes, and `/event` tells of what is paid and credited",
    "/credit-note": "what is issued never changes, and `issued_from` begins at a day",
    "/payment": "`/event` tells of each change: `payment.recorded`, `payment.reversed`",
    "/event": "events never change, and `after` goes on behind the last one",
    "/request-log": "what was requested never changes, and is there for seven days",
}


def lists_without_it(document: Document) -> set[str]:
    """The paths of the operations whose response is a list, but for those that take `changed_since`."""
    found = set()
    for path, methods in document["paths"].items():
        reading = methods.get("get", {})
        content = reading.get("responses", {}).get("200", {}).get("content", {})
        schema = resolve(document, content.get("application/json", {}).get("schema", {}))
        names = {resolve(document, each)["name"] for each in reading.get("parameters", ())}
        if schema.get("type") == "array" and "changed_since" not in names:
            found.add(path)
    return found


@pytest.mark.parametrize(
    ("document", "reasons"),
    [
        pytest.param(interface_document(), CUSTOMERS, id="customers"),
        pytest.param(backoffice_document(), BACK_OFFICE, id="back office"),
    ],
)
def test_a_list_takes_changed_since_or_has_a_reason(document: Document, reasons: Mapping[str, str]) -> None:
    assert lists_without_it(document) == set(reasons)
