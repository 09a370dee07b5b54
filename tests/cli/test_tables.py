"""Tables on a terminal: every value whole, as many columns as fit, and those that are requested."""

import json
from typing import Any

import psycopg
import pytest
from rich.cells import cell_len

from support.command_line import Forker, Program
from support.orders import buy, create
from support.service import Service
from support.shop import STANDARD, stock_shop

COMPANY = "A company whose name is too long for one line of a table of 80 columns Ltd"
REFERENCE = "A/REFERENCE/OF/THE/CUSTOMER/THAT/IS/LONG"


@pytest.fixture(scope="module")
def tradecounter(service: Service, tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Program:
    stock_shop(service)
    return Program(tmp_path_factory.mktemp("tables"), service.database_url, forker)


@pytest.fixture(scope="module")
def placed(service: Service, tradecounter: Program) -> list[dict[str, Any]]:
    """A confirmed order and a pending one."""
    assert tradecounter.url == service.database_url
    buyer = service.customer(shipping_method=STANDARD, company=COMPANY)
    return [buy(buyer, [("PHONE", 20)]), create(buyer, customer_reference=REFERENCE)]


def cells(lines: list[str]) -> list[str]:
    return [cell for line in lines for cell in line.split("  ") if cell]


def test_at_80_columns_the_first_columns_are_shown_whole_and_the_others_named(
    tradecounter: Program, placed: list[dict[str, Any]]
) -> None:
    lines, told = tradecounter.screen(80, "order", "list")
    assert all(len(line) <= 80 for line in lines)
    assert {placed[0]["order_reference"], placed[1]["confirmation_code"]} <= set(cells(lines))
    assert {"2026-06-16T09:00:00", f"{placed[0]['cost_gross']:.2f}"} <= {cell.strip() for cell in cells(lines)}
    assert "…" not in "".join(lines)
    assert told.startswith("Not shown: ")
    assert "customer_reference" in told
    assert told.endswith("Widen the terminal or use --columns to see them.")


def test_at_160_columns_all_columns_are_shown(tradecounter: Program, placed: list[dict[str, Any]]) -> None:
    lines, told = tradecounter.screen(160, "order", "list")
    assert all(len(line) <= 160 for line in lines)
    assert {REFERENCE, placed[0]["order_reference"], "2026-06-16T09:00:00"} <= set(cells(lines))
    assert told == ""


@pytest.mark.parametrize("command", [["customer", "list"], ["quote", "list", "--all"], ["settings"], ["app", "list"]])
def test_no_list_is_cut_off_at_80_columns(
    tradecounter: Program, placed: list[dict[str, Any]], command: list[str]
) -> None:
    assert placed
    lines, _ = tradecounter.screen(80, *command)
    assert all(len(line) <= 80 for line in lines)
    assert "…" not in "".join(lines)


def test_long_values_are_wrapped_and_not_truncated(tradecounter: Program, placed: list[dict[str, Any]]) -> None:
    assert placed
    lines, _ = tradecounter.screen(80, "customer", "list")
    first_words = [line[6:].split("  ")[0].strip() for line in lines]
    assert COMPANY in " ".join(first_words)


def test_wide_letters_count_as_two_columns(tradecounter: Program, service: Service) -> None:
    name = "通信機器販売有限会社" * 8
    service.customer(company=name)
    lines, _ = tradecounter.screen(80, "customer", "list")
    assert all(cell_len(line) <= 80 for line in lines)
    assert name in "".join(line[6:].split("  ")[0].strip() for line in lines)


def test_requested_columns_are_shown_in_that_order(tradecounter: Program, placed: list[dict[str, Any]]) -> None:
    options = ["--columns", "customer-reference, confirmation_code,state,confirmation_code,billing_address"]
    header, *rows = tradecounter.text("order", "list", *options).splitlines()
    assert header.split() == ["customer_reference", "confirmation_code", "state", "billing_address"]
    assert rows[0].startswith(f"{REFERENCE}  {placed[1]['confirmation_code']}  pending")
    assert '"city":"Leeds"' in rows[0]
    lines, told = tradecounter.screen(40, "order", "list", *options)
    assert REFERENCE in "\n".join(lines)
    assert told == ""


def test_an_unknown_column_is_a_usage_error_that_lists_the_known_columns(
    tradecounter: Program, placed: list[dict[str, Any]]
) -> None:
    assert placed
    said = tradecounter.misused("order", "list", "--columns", "id,colour")
    assert "unknown: colour; known: id, kind, order_reference," in said


def test_in_a_file_a_table_has_all_columns_on_one_line_each(
    tradecounter: Program, placed: list[dict[str, Any]]
) -> None:
    header, *rows = tradecounter.text("customer", "list").splitlines()
    assert len(rows) == len(tradecounter.json("customer", "list"))
    assert header.split()[:4] == ["id", "company", "email_address", "credit_limit"]
    assert COMPANY in rows[0]
    assert placed


def test_a_list_that_ends_by_itself_says_so(tradecounter: Program, service: Service) -> None:
    with psycopg.connect(service.database_url, autocommit=True) as database:
        database.execute(
            "insert into audit_entry (at, actor_kind, actor_id, actor_name, action, subject, before, after)"
            " select now(), 'key', '1', 'shop', 'stock.adjust', 'stock/MANY', '{}', '{}' from generate_series(1, 1001)"
        )
    words = ("audit", "--subject", "stock/MANY", "--json")
    done = tradecounter.run(*words)
    assert (len(json.loads(done.output)), done.err) == (
        1000,
        "the list ends after 1000 records; if there are more, --limit lists them\n",
    )
    assert len(tradecounter.json(*words[:-1], "--limit", "2000")) == 1001
