"""`payment`, `credit-note`, `statement`, `debtors` and `customer block`."""

from typing import Any

import pytest

from support.billing import SELLER, invoiced, number_of
from support.command_line import Forker, Program
from support.service import Customer, Service


@pytest.fixture(scope="module")
def tradecounter(shop: Service, tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Program:
    seller = SELLER.seller
    assert seller.tax_number is not None
    environment = {
        "TRADECOUNTER_SELLER_NAME": seller.name,
        "TRADECOUNTER_SELLER_ADDRESS": ", ".join(seller.address),
        "TRADECOUNTER_SELLER_VAT_NUMBER": seller.tax_number,
    }
    return Program(tmp_path_factory.mktemp("money"), shop.database_url, forker, environment)


@pytest.fixture(scope="module")
def buyer(shop: Service) -> Customer:
    return shop.customer(company="Money plc")


@pytest.fixture(scope="module")
def placed(shop: Service, buyer: Customer) -> dict[str, Any]:
    return invoiced(shop, buyer)


@pytest.fixture(scope="module")
def number(shop: Service, placed: dict[str, Any]) -> str:
    return str(number_of(shop, placed))


def test_payments_are_added_listed_and_reversed(tradecounter: Program, buyer: Customer, number: str) -> None:
    added = tradecounter.json("payment", "add", "--invoice", number, "10", "--reference", "B1", "--date", "2026-06-20")
    assert added == {
        "id": added["id"],
        "customer_id": buyer.id,
        "amount": 10,
        "received_on": "2026-06-20",
        "method": "bank_transfer",
        "reference": "B1",
        "allocations": [{"invoice": int(number), "amount": 10}],
        "reversed_at": None,
        "reversal_reason": None,
    }
    again = ("payment", "add", "--customer", str(buyer.id), "10", "--reference", "B1", "--date", "2026-06-20")
    assert "has the same reference, amount and date" in tradecounter.error(*again)
    assert tradecounter.json("payment", "list", "--invoice", number) == [added]
    assert "B1" in tradecounter.text("payment", "list", "--customer", str(buyer.id))
    text = tradecounter.text("payment", "reverse", str(added["id"]), "--reason", "bounced")
    assert text == f"payment {added['id']} of customer {buyer.id}, £10.00, is reversed\n"
    both = ("--invoice", number, "--customer", str(buyer.id))
    assert tradecounter.error("payment", "add", "10") == "--invoice: name either an invoice or a customer"
    assert tradecounter.error("payment", "add", "10", *both) == "--invoice: name either an invoice or a customer"
    assert "is not a date" in tradecounter.misused("payment", "add", "10", "--customer", "1001", "--date", "soon")


def test_a_bank_file_is_imported(tradecounter: Program, number: str) -> None:
    (tradecounter.folder / "bank.csv").write_text(f"date,amount,reference\n2026-06-21,1.00,{number}\n2026-06-21,2,x\n")
    done = tradecounter.json("payment", "import", "bank.csv")
    assert (done["recorded"], [line["line"] for line in done["unplaced"]]) == (1, [3])
    assert tradecounter.text("payment", "import", "bank.csv").endswith("0 recorded, 1 not placed\n")
    tradecounter.json("payment", "import", "-", given="date,amount,reference\n2026-06-21,3,y\n")
    assert [file["name"] for file in tradecounter.json("payment", "imports")][:2] == ["", "bank.csv"]
    assert tradecounter.error("payment", "import", "none.csv") == "none.csv cannot be read: No such file or directory"


def test_credit_notes_are_added_shown_and_written(
    tradecounter: Program, number: str, placed: dict[str, Any], buyer: Customer
) -> None:
    item = placed["items"][0]["id"]
    note = tradecounter.json("credit-note", "add", number, "--item", f"{item}=1", "--reason", "broken")
    assert (note["invoice"], note["cost_gross"], note["lines"][0]["item_id"]) == (int(number), 60, item)
    assert tradecounter.json("credit-note", "show", str(note["number"])) == note
    assert tradecounter.json("credit-note", "list", "--customer", str(buyer.id)) == [note]
    written = tradecounter.json("credit-note", "pdf", str(note["number"]))
    assert (tradecounter.folder / written["file"]).read_bytes().startswith(b"%PDF")
    assert "either --item or --amount" in tradecounter.misused("credit-note", "add", number, "--reason", "x")
    rejected = tradecounter.error("credit-note", "add", number, "--amount", "99", "--reason", "x")
    assert rejected.startswith("--amount: must be at most £5.50")
    assert tradecounter.json("invoice", "show", number)["credited"] == 60


@pytest.mark.sweep
def test_a_dry_run_says_what_would_be_recorded(tradecounter: Program, buyer: Customer, number: str) -> None:
    payments = tradecounter.json("payment", "list", "--customer", str(buyer.id))
    words = ("payment", "add", "--invoice", number, "2.50", "--reference", "DRY")
    assert tradecounter.text(*words, "--dry-run") == f"£2.50 would be recorded; £2.50 pays invoice {number}\n"
    shown = tradecounter.json(*words, "--dry-run")
    assert shown["allocations"] == [{"invoice": int(number), "amount": 2.5}]
    assert tradecounter.json("payment", "list", "--customer", str(buyer.id)) == payments
    notes = tradecounter.json("credit-note", "list", "--invoice", number)
    words = ("credit-note", "add", number, "--amount", "0.50", "--reason", "dry")
    said = f"a credit note of invoice {number} over £0.60 (£0.50 and £0.10 VAT) would be issued\n"
    assert tradecounter.text(*words, "--dry-run") == said
    assert tradecounter.json(*words, "--dry-run")["cost_gross"] == 0.6
    assert tradecounter.json("credit-note", "list", "--invoice", number) == notes


def test_statements_and_debtors(tradecounter: Program, buyer: Customer, number: str) -> None:
    assert number
    found = tradecounter.json("statement", str(buyer.id))
    assert {"from", "to", "opening_balance", "entries", "closing_balance", "ageing"} <= found.keys()
    assert found["entries"][0]["at"].endswith("Z")
    assert found["closing_balance"] == sum(found["ageing"].values()) - found["unallocated"]
    assert "closing_balance" in tradecounter.text("statement", str(buyer.id), "--csv")
    assert "closing_balance" in tradecounter.text("statement", str(buyer.id))
    tradecounter.text("statement", str(buyer.id), "--pdf", "statement.pdf")
    assert (tradecounter.folder / "statement.pdf").read_bytes().startswith(b"%PDF")
    printed = tradecounter.run("statement", str(buyer.id), "--pdf", "-")
    assert (printed.status, printed.output[:5]) == (0, b"%PDF-")
    assert "standard output" in tradecounter.misused("statement", str(buyer.id), "--pdf", "-", "--json")
    sent = {"customer_id": buyer.id, "recipient": tradecounter.json("customer", "show", str(buyer.id))["email_address"]}
    assert tradecounter.json("statement", str(buyer.id), "--send") == sent
    assert "--send sends the last twelve months" in tradecounter.misused(
        "statement", str(buyer.id), "--send", "--from", "2026-06-01"
    )
    [debtor] = tradecounter.json("debtors")
    assert (debtor["customer_id"], debtor["name"]) == (buyer.id, "Money plc")
    assert "Money plc" in tradecounter.text("debtors")


def test_the_vat_of_a_period(tradecounter: Program, number: str) -> None:
    today = tradecounter.json("invoice", "show", number)["tax_point"]
    found = tradecounter.json("vat", "--from", today, "--to", today)
    assert (found["from"], found["to"], found["box_1"]) == (today, today, found["cost_tax"])
    assert sum(line["cost_net"] for line in found["lines"]) == pytest.approx(found["cost_net"])
    table = tradecounter.text("vat", "--from", today, "--to", today, "--csv").splitlines()
    assert table[0] == "kind,supply,tax_rate,documents,cost_net,cost_tax,cost_gross"
    assert len(table) == len(found["lines"]) + 1 > 1
    assert "box_6" in tradecounter.text("vat")
    assert "both write to standard output" in tradecounter.misused("vat", "--csv", "--json")


def test_a_customer_is_blocked_and_unblocked(tradecounter: Program, shop: Service) -> None:
    customer = str(shop.customer().id)
    blocked = tradecounter.json("customer", "block", customer, "--reason", "does not pay")
    assert (blocked["blocked"], blocked["blocked_reason"]) == (True, "does not pay")
    assert (
        tradecounter.error("customer", "block", customer, "--reason", "x") == f"customer {customer} is already blocked"
    )
    assert "is not blocked any more" in tradecounter.text("customer", "unblock", customer)
    shown = tradecounter.json("customer", "show", customer)
    assert (shown["blocked"], shown["blocked_reason"], shown["credit"]["unallocated"]) == (False, None, 0)
