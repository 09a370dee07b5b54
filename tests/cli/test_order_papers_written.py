"""`order picking-list` and `order packing-slip`: the files, and what they say about them."""

import pytest

from support.billing import pdf_text
from support.command_line import Forker, Program
from support.orders import buy, dispatch
from support.service import Service


@pytest.fixture(scope="module")
def tradecounter(shop: Service, tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Program:
    return Program(tmp_path_factory.mktemp("papers"), shop.database_url, forker)


def test_the_papers_of_an_order_are_written_as_pdf_files(tradecounter: Program, shop: Service) -> None:
    placed = buy(shop.customer(), [("PHONE", 3)])
    reference = placed["order_reference"]
    done = tradecounter.json("order", "picking-list", reference, "--output", "list.pdf")
    content = (tradecounter.folder / "list.pdf").read_bytes()
    assert done == {"order_reference": reference, "file": "list.pdf", "bytes": len(content)}
    assert "3 units to pick" in pdf_text(content)
    assert tradecounter.error("order", "packing-slip", reference) == f"nothing of {reference} is dispatched yet"
    dispatch(shop, placed)
    text = tradecounter.text("order", "packing-slip", reference)
    assert text == f"packing slip {reference} is in packing-slip-{reference}.pdf\n"
    assert reference in pdf_text((tradecounter.folder / f"packing-slip-{reference}.pdf").read_bytes())
    assert "has no shipment 999999" in tradecounter.error("order", "packing-slip", reference, "--shipment", "999999")
    tradecounter.misused("order", "packing-slip", reference, "--output", "-", "--json")
