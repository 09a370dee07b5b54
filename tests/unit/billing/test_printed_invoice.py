"""The invoice as a PDF file: all required details, for any text."""

import io
import os
import subprocess
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json
from msgspec.structs import replace
from pypdf import PdfReader

from support.billing import copied_texts, pdf_text
from support.fuzzed import fuzzed
from support.images import png
from tradecounter.billing.account_statement import AccountStatement, print_statement
from tradecounter.billing.invoice_document import InvoiceComponent, InvoiceDocument, InvoiceLine, VatTotal
from tradecounter.billing.print_invoice import print_invoice
from tradecounter.billing.rules import Ageing
from tradecounter.letterhead.seller import Letterhead, Logo, Party, Seller

MOMENT = datetime(2026, 6, 16, 8, tzinfo=UTC)
LINES = [
    InvoiceLine(
        "PH/1#A", "Desk phone", 1200, Decimal("1049.95"), Decimal("20.00"), Decimal("1259940.00"),
        Decimal("251988.00"), serial_numbers=["SN-1", "SN-2"],
    ),
    InvoiceLine(
        "KIT-2", "Starter kit", 1, Decimal("100.00"), Decimal("5.00"), Decimal("100.00"), Decimal("5.00"),
        [InvoiceComponent("HANDSET", "Spare handset", 3, ["H-1"])],
    ),
    InvoiceLine(
        "", "Shipping: Fastvan Next day", 1, Decimal("9.00"), Decimal("20.00"), Decimal("9.00"), Decimal("1.80")
    ),
]  # fmt: skip
INVOICE = InvoiceDocument(
    number=10001,
    issued_on=date(2026, 6, 16),
    supplied_on=date(2026, 6, 5),
    due_on=date(2026, 7, 16),
    seller=Seller(
        "Seller & Sons Ltd",
        ["7 Sales Street", "York"],
        "GB123456782",
        email="sales@seller.example",
        phone="+44 1904 496 0000",
        company_number="01234567",
        registered_office="8 Office Row, York",
        bank=["Example Bank", "Sort code 20-00-00"],
    ),
    customer_id=1001,
    customer=Party("Buyer plc", ["Accounts", "1 Bill Road", "Leeds", "LS1 1AA", "United Kingdom"], "GB987654321"),
    delivery=Party("Site Office", ["2 Dig Lane", "Hull", "HU1 1AA", "United Kingdom"], None),
    order_reference="ORD-100001",
    customer_reference="PO-7/b",
    lines=LINES,
    vat_totals=[
        VatTotal(Decimal("20.00"), Decimal("1259949.00"), Decimal("251989.80")),
        VatTotal(Decimal("5.00"), Decimal("100.00"), Decimal("5.00")),
    ],
    net=Decimal("1260049.00"),
    vat=Decimal("251994.80"),
    gross=Decimal("1512043.80"),
    due=Decimal("1512043.80"),
    payment_terms="Payment is due within 30 days.",
    notes=["A note."],
)
HOSTILE = [
    '#panic("x") #{ panic() } #sys.inputs #import "/etc/passwd": *',
    '"quoted" \'single\' \\" \\u{41} \\n \\',
    "$ a^2 $ @reference <label> *bold* _italic_ `raw` ```block``` = heading - item + item / term: x ~ -- ...",
    "// comment /* comment */ [ ] { } ( ) ; | & % ^ <!-- --> <script>alert(1)</script>",
    "line one\nline two\ttab\r\x01\x7f\u2028\u202e\ufeff end",
    "\U0001f600 مرحبا بكم 日本語 Zoë Łódź ﷽ e\u0301\u0302\u0303",
    "W" * 200,
    " " * 200,
    "",
]


def shown(document: InvoiceDocument) -> str:
    return pdf_text(print_invoice(document, MOMENT))


@pytest.fixture(scope="module")
def plain() -> str:
    """Return the text of INVOICE."""
    return shown(INVOICE)


@pytest.mark.parametrize(
    "stated",
    [
        pytest.param("INVOICE", id="what it is"),
        pytest.param("Invoice number 10001", id="its number"),
        pytest.param("Invoice date 16 June 2026", id="its date"),
        pytest.param("Tax point 5 June 2026", id="the time of supply"),
        pytest.param("Due date 16 July 2026", id="until when to pay"),
        pytest.param("Seller & Sons Ltd 7 Sales Street, York", id="who sells"),
        pytest.param("+44 1904 496 0000 · sales@seller.example", id="how to reach the seller"),
        pytest.param("VAT number GB123456782", id="the seller's VAT number"),
        pytest.param("Company number 01234567", id="the seller's company number"),
        pytest.param("Registered office: 8 Office Row, York", id="the seller's registered office"),
        pytest.param("PAY TO Example Bank Sort code 20-00-00", id="where to pay to"),
        pytest.param("Buyer plc Accounts 1 Bill Road Leeds LS1 1AA United Kingdom", id="who buys"),
        pytest.param("Tax number: GB987654321", id="the buyer's tax number"),
        pytest.param("Site Office 2 Dig Lane Hull HU1 1AA United Kingdom", id="where it went"),
        pytest.param("Customer number 1001", id="the customer's number"),
        pytest.param("Order reference ORD-100001", id="the order"),
        pytest.param("Your reference PO-7/b", id="the customer's reference"),
        pytest.param(
            "PH/1#A Desk phone Serial numbers SN-1, SN-2 1,200 £1,049.95 20% £1,259,940.00 £251,988.00", id="a line"
        ),
        pytest.param("Serial numbers SN-1, SN-2", id="a line's serial numbers"),
        pytest.param("KIT-2 Starter kit 3 of HANDSET Spare handset Serial number H-1 1 £100.00 5%", id="a bundle"),
        pytest.param("Shipping: Fastvan Next day 1 £9.00 20% £9.00 £1.80", id="shipping"),
        pytest.param("Total excluding VAT £1,260,049.00", id="the net total"),
        pytest.param("VAT at 20% on £1,259,949.00 £251,989.80", id="VAT at one rate"),
        pytest.param("VAT at 5% on £100.00 £5.00", id="VAT at another"),
        pytest.param("Total VAT £251,994.80", id="all VAT"),
        pytest.param("Total including VAT £1,512,043.80", id="the gross total"),
        pytest.param("Amount due £1,512,043.80", id="what is due"),
        pytest.param("Payment is due within 30 days.", id="the terms"),
        pytest.param("pounds sterling", id="the currency"),
        pytest.param("A note.", id="notes"),
        pytest.param("Page 1 of 1", id="the page"),
    ],
)
def test_the_invoice_contains_all_required_details(stated: str, plain: str) -> None:
    assert stated in plain


def hostile(text: str) -> InvoiceDocument:
    """Return an invoice with the same text in every typed field."""
    party = Party(text, [text, text], text)
    seller = Seller(
        text, [text], text, email=text, phone=text, company_number=text, registered_office=text, bank=[text]
    )
    parts = [InvoiceComponent(text, text, 1, [text])]
    first = replace(LINES[0], sku=text, description=text, parts=parts, serial_numbers=[text])
    return replace(
        INVOICE,
        seller=seller,
        customer=party,
        delivery=party,
        order_reference=text,
        customer_reference=text,
        lines=[first, *LINES[1:]],
        payment_terms=text,
        notes=[text],
    )


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_any_text_is_printed_unchanged_without_affecting_other_parts(text: str) -> None:
    found = shown(hostile(text))
    assert "Invoice number 10001" in found
    assert "Amount due £1,512,043.80" in found
    if text.isascii() and text.isprintable():
        assert "".join(text.split()) in found.replace(" ", "")


COPIED = [
    "accounts.receivable@northern-telecoms.example",
    "a-b.c@d-e.example",
    "GB29NWBK60161331926819",
    "GB29 NWBK 6016 1331 9268 19",
    "MT84 MALT 0110 0001 2345 MTLC AST0 01S",
    "LC14BOSL123456789012345678901234",
    "remittances-of-customers@accounts.example",
]


@pytest.mark.sweep(every=7)
@pytest.mark.parametrize("text", COPIED)
@pytest.mark.parametrize("before", ["", "To the Bank of the Northern Counties, Harrogate, IBAN or e-mail"])
def test_an_address_and_a_bank_account_are_copied_from_the_file_as_they_were_typed(before: str, text: str) -> None:
    line = f"{before} {text}".strip()
    seller = replace(INVOICE.seller, email=text, phone="+44 1904 496 0000 extension 12345 or 67890", bank=[line])
    statement = AccountStatement(
        customer_id=1, since=date(2026, 6, 1), until=date(2026, 6, 30), opening_balance=Decimal(0), entries=[],
        closing_balance=Decimal(0), unallocated=Decimal(0),
        ageing=Ageing(**dict.fromkeys(Ageing.__struct_fields__, Decimal(0))),
    )  # fmt: skip
    for pdf in (
        print_invoice(replace(INVOICE, seller=seller), MOMENT),
        print_statement(statement, "Buyer plc", Letterhead(seller), MOMENT),
    ):
        for copied in copied_texts(pdf):
            assert copied.count(text) == 2
            assert not [c for c in copied if unicodedata.category(c) == "Cf"]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("PO-2026-0000-1111-2222-3333-4444-55555", "PO-2026-0000-"),
        ("WS-C2960X-48TS-LL", "WS-C2960X-"),
        ("WSC296048TSLLEXT12345", "WSC296048TSL"),
        ("PURCHASEORDER41", "ORDER41"),
    ],
)
def test_a_long_word_breaks_in_its_column_without_an_invisible_character(text: str, part: str) -> None:
    """After a punctuation mark, if it has any. A word that does not break covers the next column."""
    document = replace(INVOICE, customer_reference=text, lines=[replace(LINES[0], sku=text), *LINES[1:]])
    for copied in copied_texts(print_invoice(document, MOMENT)):
        assert text not in copied
        assert part in copied
        assert "\u200b" not in copied


def test_a_name_breaks_between_its_parts_and_fits_its_column() -> None:
    name = "Konstantinopoulou-Featherstonehaugh"
    for copied in copied_texts(
        print_invoice(replace(INVOICE, customer=Party(name, ["ISLEOFMANSTEAMPACKETHARBOUR"])), MOMENT)
    ):
        assert {"Konstantinopoulou-", "Featherstonehaugh"} <= set(copied.split())
        assert "ISLEOFMANSTEAMPACKETHARBOUR" not in copied


def test_typed_text_is_printed_as_one_line() -> None:
    """Otherwise a customer's reference could add lines to an invoice, or reverse an amount."""
    typed, plain = (
        replace(hostile(text), payment_terms="", notes=[]) for text in ("A\r\nB\u2028C 00\u202e1", "A B C 001")
    )
    assert print_invoice(typed, MOMENT) == print_invoice(plain, MOMENT)


@pytest.mark.parametrize("text", ["1\u00ad0", "e\u0301 0\u2060 1\ufeff", "0\U0001d173"])
def test_invisible_and_decomposed_characters_do_not_change_the_text_of_amounts(text: str) -> None:
    assert "Amount due £1,512,043.80" in shown(hostile(text))


# A mark on a digit is shown, but becomes part of the digit wherever text is copied from the file. So does a character
# that is not assigned but would be ignored, such as U+E0080.
UNMARKED = st.characters(exclude_categories=["Cs", "Cn", "Mn", "Me"])


@pytest.mark.sweep
@fuzzed(8)
@given(st.text(UNMARKED, max_size=200))
def test_any_text_can_be_printed(text: str) -> None:
    assert "Amount due £1,512,043.80" in shown(hostile(text))


@pytest.mark.sweep
def test_five_hundred_lines_repeat_the_header_and_count_the_pages() -> None:
    lines = [replace(LINES[0], sku=f"SKU-{number}") for number in range(500)]
    reader = PdfReader(io.BytesIO(print_invoice(replace(INVOICE, lines=lines), MOMENT)))
    texts = [" ".join(page.extract_text().split()) for page in reader.pages]
    assert len(texts) > 10
    for number, text in enumerate(texts, start=1):
        assert f"Page {number} of {len(texts)}" in text
        assert ("SKU DESCRIPTION QUANTITY UNIT PRICE VAT RATE NET VAT" in text) == ("SKU-" in text)
        assert number == 1 or "Seller & Sons Ltd Invoice 10001" in text
    whole = " ".join(texts)
    assert all(f"SKU-{number} " in whole for number in range(500))


def test_pages_are_a4_and_the_file_has_metadata() -> None:
    reader = PdfReader(io.BytesIO(print_invoice(INVOICE, MOMENT)))
    [page] = reader.pages
    assert (round(page.mediabox.width), round(page.mediabox.height)) == (595, 842)
    assert reader.metadata is not None
    assert (reader.metadata.title, reader.metadata.author) == ("Invoice 10001", "Seller & Sons Ltd")
    assert reader.metadata.creation_date == MOMENT


def test_concurrent_threads_print_the_same_bytes() -> None:
    documents = [replace(INVOICE, number=number) for number in range(12)]
    with ThreadPoolExecutor(6) as threads:
        at_once = list(threads.map(lambda document: print_invoice(document, MOMENT), documents))
    assert at_once == [print_invoice(document, MOMENT) for document in documents]


def test_the_bytes_do_not_depend_on_the_machine(tmp_path: Path) -> None:
    program = (
        "import sys; from datetime import datetime, UTC; from msgspec import json;"
        "from tradecounter.billing.invoice_document import InvoiceDocument;"
        "from tradecounter.billing.print_invoice import print_invoice;"
        "document = json.decode(sys.stdin.buffer.read(), type=InvoiceDocument);"
        "sys.stdout.buffer.write(print_invoice(document, datetime(2026, 6, 16, 8, tzinfo=UTC)))"
    )
    environment: dict[str, Any] = {"HOME": str(tmp_path / "missing"), "PATH": os.environ["PATH"], "LC_ALL": "C"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=json.encode(INVOICE),
        stdout=subprocess.PIPE,
        check=True,
        cwd=tmp_path,
        env=environment,
    )
    assert done.stdout == print_invoice(INVOICE, MOMENT)


def test_a_stored_invoice_is_read_back_unchanged() -> None:
    assert json.decode(json.encode(INVOICE), type=InvoiceDocument) == INVOICE


def test_a_date_stays_on_one_line() -> None:
    terms = "Payment is due within 30 days of the invoice date, by 16 July 2026."
    raw = print_invoice(replace(INVOICE, payment_terms=terms), MOMENT)
    [page] = PdfReader(io.BytesIO(raw)).pages
    lines = page.extract_text().replace("\u00a0", " ").splitlines()
    for day in ("16 June 2026", "5 June 2026", "16 July 2026"):
        assert any(day in line for line in lines)
    assert sum("16 July 2026" in line for line in lines) == 2


def test_a_serial_number_with_hyphens_stays_on_one_line() -> None:
    numbers = [f"SN{number:0{2 + number % 4}}-ABC-{number:03}" for number in range(40)]
    raw = print_invoice(replace(INVOICE, lines=[replace(LINES[0], serial_numbers=numbers)]), MOMENT)
    [page] = PdfReader(io.BytesIO(raw)).pages
    lines = page.extract_text().splitlines()
    assert [number for number in numbers if not any(number in line for line in lines)] == []


def test_vat_at_a_single_rate_is_printed_once() -> None:
    one_rate = replace(INVOICE, vat_totals=[VatTotal(Decimal(20), INVOICE.net, INVOICE.vat)])
    found = shown(one_rate)
    assert "VAT at 20% £251,994.80 Total including VAT" in found
    assert "Total VAT" not in found


def test_a_paid_invoice_requests_no_payment() -> None:
    found = shown(replace(INVOICE, due=Decimal("0.00")))
    assert "PAY TO" not in found
    assert "Please quote" not in found


def test_characters_that_no_font_has_are_listed() -> None:
    unassigned = "\u0378"
    found = shown(replace(INVOICE, notes=[f"Before {unassigned} after \ue001"]))
    assert "Before \u25a1 after \u25a1" in found
    assert "\u25a1 replaces characters that could not be printed: U+0378, U+E001." in found
    assert "could not be printed" not in shown(INVOICE)


def test_characters_of_other_scripts_are_printed_or_listed() -> None:
    """The machine's fonts decide which characters can be printed; the others must be listed."""
    text = "\u65e5\u672c\u8a9e"
    found = shown(replace(INVOICE, notes=[f"Text {text}."]))
    assert text in found or all(f"U+{ord(character):04X}" in found for character in text)


def test_the_file_is_pdf_a() -> None:
    raw = print_invoice(INVOICE, MOMENT)
    assert b"pdfaid:part>2<" in raw


def test_the_logo_is_printed() -> None:
    logo = Logo(png(40, 20), "png")
    reader = PdfReader(io.BytesIO(print_invoice(INVOICE, MOMENT, logo)))
    assert len(reader.pages[0].images) == 1
    assert not PdfReader(io.BytesIO(print_invoice(INVOICE, MOMENT))).pages[0].images
