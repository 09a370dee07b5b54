"""Rolling imports back: what they changed becomes what it was, unless it has changed since."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from psycopg.sql import SQL

from support.cluster import Cluster
from support.import_examples import EXAMPLES, PRICE
from support.importing import Importer
from support.orders import in_parallel
from tradecounter.bulk.roll_back import ROLL_BACK_WITHIN
from tradecounter.imports.kinds import IMPORT_KINDS
from tradecounter.imports.queries import list_imports
from tradecounter.imports.run import RolledBackImport, forget_changes, roll_back_import
from tradecounter.kit.clock import whole_second
from tradecounter.kit.errors import DomainError, Kind

NOW = datetime.now(UTC)


@pytest.fixture(scope="module")
def shop(postgres: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Importer]:
    with postgres.database() as url:
        yield Importer(url, Path(tmp_path_factory.mktemp("imports")))


def roll_back(shop: Importer, import_id: int | None, *, force: bool = False, now: datetime = NOW) -> RolledBackImport:
    assert import_id is not None
    return shop.change_by(partial(roll_back_import, import_id=import_id, now=now, force=force))


def records(shop: Importer, kind: str) -> dict[str, Any]:
    """All records of a kind, without inactive ones and empty stock levels, by key."""
    sql = SQL("select key, row from ({}) v").format(SQL(IMPORT_KINDS[kind].view)).as_string()
    found = shop.query(sql)
    return {key: row for key, row in found if row.get("active", True) and row.get("available") != 0}


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_roll_back_restores_records_of_every_kind(kind: str, shop: Importer) -> None:
    ids = shop.query("select id from customer where email_key = 'a@a.example'")
    own = {"customer_id": ids[0][0]} if kind == "contract-prices" else {}
    rows = [{**row, **own} for row in EXAMPLES[kind].rows]
    before = records(shop, kind)
    added = shop.load(kind, rows)
    first = records(shop, kind)
    altered = shop.load(kind, [{**EXAMPLES[kind].altered, **own}])
    assert roll_back(shop, altered.id).restored == 1
    assert records(shop, kind) == first
    if EXAMPLES[kind].replaceable:
        replaced = shop.load(kind, [{**EXAMPLES[kind].altered, **own}], replace=True)
        assert replaced.deactivated == 1
        assert roll_back(shop, replaced.id).restored == 2
        assert records(shop, kind) == first
    done = roll_back(shop, added.id)
    assert (done.added, done.restored, done.overwritten, done.kept) == (EXAMPLES[kind].records,) * 2 + ([], [])
    assert records(shop, kind) == before
    shop.load(kind, rows)  # the next kinds need them


@pytest.fixture(scope="module")
def prices(shop: Importer) -> Importer:
    shop.load("manufacturers", [{"key": "m", "name": "M"}])
    shop.load("products", [{"sku": sku, "name": sku, "manufacturer": "m"} for sku in ("A", "B", "C")])
    return shop


def price_rows(price_list: str, **costs: str) -> list[dict[str, str]]:
    return [{"price_list": price_list, "sku": sku, "single_unit_cost": cost} for sku, cost in costs.items()]


def costs(shop: Importer, price_list: str) -> dict[str, str]:
    found = shop.query(
        "select sku, single_unit_cost from price join product on id = product_id where price_list = %s order by sku",
        price_list,
    )
    return {sku: str(cost) for sku, cost in found}


def test_records_that_have_changed_since_are_listed_and_need_force(prices: Importer) -> None:
    prices.load("price-list", price_rows("one", A="1", B="1"))
    second = prices.load("price-list", price_rows("one", A="2", B="2", C="2"))
    prices.load("price-list", price_rows("one", B="3", C="3"))
    with pytest.raises(DomainError, match=r"^2 records have changed since: one B, one C; ") as rejected:
        roll_back(prices, second.id)
    assert rejected.value.kind is Kind.CONFLICT
    assert costs(prices, "one") == {"A": "2.00", "B": "3.00", "C": "3.00"}
    done = roll_back(prices, second.id, force=True)
    assert (done.restored, done.overwritten) == (3, ["one B", "one C"])
    assert costs(prices, "one") == {"A": "1.00", "B": "1.00"}
    with pytest.raises(DomainError, match="is already rolled back"):
        roll_back(prices, second.id, force=True)


def test_records_that_are_as_they_were_again_need_nothing(prices: Importer) -> None:
    prices.load("price-list", price_rows("two", A="1", B="1"))
    second = prices.load("price-list", price_rows("two", A="2", B="2"))
    prices.load("price-list", price_rows("two", A="1"))
    assert roll_back(prices, second.id).restored == 1
    assert costs(prices, "two") == {"A": "1.00", "B": "1.00"}


def test_a_price_with_other_breaks_has_changed_and_is_restored_whole(prices: Importer) -> None:
    row = {"price_list": "three", "sku": "A", **PRICE}
    prices.load("price-list", [row])
    second = prices.load("price-list", [{**row, "single_unit_cost": "11.00"}])
    prices.load("price-list", [{**row, "single_unit_cost": "11.00", "five_plus_unit_cost": "9.50"}])
    with pytest.raises(DomainError, match="three A"):
        roll_back(prices, second.id)
    roll_back(prices, second.id, force=True)
    assert prices.query("select five_plus_unit_cost::text from price where price_list = 'three'") == [("9.00",)]


def test_prices_that_were_deleted_come_back(prices: Importer) -> None:
    prices.load("price-list", price_rows("four", A="1", B="1"))
    replaced = prices.load("price-list", price_rows("four", A="2"), replace=True)
    assert costs(prices, "four") == {"A": "2.00"}
    roll_back(prices, replaced.id)
    assert costs(prices, "four") == {"A": "1.00", "B": "1.00"}


def test_imports_and_roll_backs_of_one_kind_take_turns(prices: Importer) -> None:
    prices.load("price-list", price_rows("race", A="1", B="1", C="1"))
    second = prices.load("price-list", price_rows("race", A="2", B="2", C="2"))

    def attempt() -> str:
        try:
            roll_back(prices, second.id)
        except DomainError as error:
            return error.message
        return "done"

    def load(cost: str) -> str:
        folder = prices.folder / cost
        folder.mkdir()
        skus = ("A", "B", "C") if cost == "3" else ("C", "B", "A")  # in an order in which row locks would deadlock
        rows = price_rows("race", **dict.fromkeys(skus, cost))
        replace(prices, folder=folder).load("price-list", rows)
        return cost

    work: list[Callable[[], str]] = [attempt, attempt, partial(load, "3"), partial(load, "4")]
    outcomes = in_parallel(work)
    assert outcomes[2:] == ["3", "4"]
    assert outcomes[:2].count("done") <= 1
    assert len(set(costs(prices, "race").values())) == 1  # never a mixture


def test_an_added_customer_in_use_is_kept(prices: Importer) -> None:
    rows = [{"email_address": f"{name}@x.example", "first_name": name, "last_name": "X"} for name in ("used", "new")]
    added = prices.load("customers", rows)
    prices.change(
        "insert into credit_exposure (customer_id) select id from customer where email_key = 'used@x.example'"
    )
    with pytest.raises(DomainError, match=r"^1 record is in use and cannot be removed: used@x\.example"):
        roll_back(prices, added.id)
    prices.change("update customer set discount = 3 where email_key = 'used@x.example'")
    done = roll_back(prices, added.id, force=True)
    assert (done.restored, done.overwritten, done.kept) == (1, [], ["used@x.example"])
    assert prices.query("select email_key from customer where email_key like '%%@x.example'") == [("used@x.example",)]


def test_the_history_shows_who_imported_what_and_dry_runs_leave_no_trace(prices: Importer) -> None:
    count = prices.one("select count(*) from import_run")
    tried = prices.load("price-list", price_rows("five", A="1"), dry_run=True, diff=True)
    assert tried.id is None
    assert [change.change for change in tried.diff or ()] == ["added"]
    done = prices.load("price-list", price_rows("five", A="1"))
    assert prices.one("select count(*) from import_run") == count + 1
    roll_back(prices, done.id)
    shown = prices.query(
        "select kind, made_by, added, changed, unchanged, rolled_back_at from import_run where id = %s", done.id
    )
    assert shown == [("price-list", "system", 1, 0, 0, NOW)]
    events = prices.query(
        "select type, data from unnumbered_event where subject = %s order by position", f"import/{done.id}"
    )
    assert [type_ for type_, _ in events] == ["import.applied", "import.rolled_back"]
    assert events[0][1] == {
        "import_id": done.id,
        "kind": "price-list",
        "added": 1,
        "changed": 0,
        "unchanged": 0,
        "deactivated": 0,
    }
    newest, older = prices.change_by(partial(list_imports, most=2))
    assert (newest.id, newest.by, newest.rolled_back_at) == (done.id, "system", whole_second(NOW))
    assert prices.change_by(partial(list_imports, most=1, older_than=newest.id)) == [older]
    [customers] = prices.change_by(partial(list_imports, most=1, kinds=["customers"]))
    assert customers.kind == "customers"
    audited = prices.query("select action from audit_entry where subject = %s order by id", f"import/{done.id}")
    assert audited == [("import.apply",), ("import.roll_back",)]


def test_old_imports_cannot_be_rolled_back_and_their_changes_are_deleted(prices: Importer) -> None:
    done = prices.load("price-list", price_rows("six", A="1"))
    later = NOW + ROLL_BACK_WITHIN + timedelta(days=1)  # more than a run of all tests takes on a busy machine
    with pytest.raises(DomainError, match="is over 90 days old"):
        roll_back(prices, done.id, now=later)
    assert prices.change_by(partial(forget_changes, now=NOW)) == 0
    while prices.change_by(partial(forget_changes, now=later)):
        pass
    assert prices.one("select count(*) from import_change") == 0


def made(shop: Importer, kind: str, *rows: dict[str, Any], **options: Any) -> int:
    report = shop.load(kind, rows, **options)
    assert report.id is not None, report.errors
    return report.id


@pytest.mark.parametrize("force", [False, True])
def test_a_roll_back_does_not_give_two_attributes_a_name(own_importer: Importer, force: bool) -> None:
    made(own_importer, "attributes", {"key": "a", "name": "Ports", "type": "string"})
    renamed = made(own_importer, "attributes", {"key": "a", "name": "Sockets", "type": "string"})
    other = {"key": "b", "name": "ports", "type": "string"}
    made(own_importer, "attributes", other)
    problem = "does not fit what has changed since: a: name: 'Ports' is already the name of the attribute 'b'"
    with pytest.raises(DomainError, match=problem):
        roll_back(own_importer, renamed, force=force)
    assert own_importer.query("select name from attribute order by key") == [("Sockets",), ("ports",)]
    made(own_importer, "attributes", {**other, "name": "Holes"})
    assert roll_back(own_importer, renamed, force=force).restored == 1


def test_a_roll_back_does_not_bring_back_an_attribute_whose_name_another_has(own_importer: Importer) -> None:
    made(own_importer, "attributes", {"key": "a", "name": "Ports", "type": "string"})
    other = {"key": "b", "name": "Doors", "type": "string"}
    without = made(own_importer, "attributes", other, replace=True)
    made(own_importer, "attributes", {"key": "c", "name": "Ports", "type": "string"})
    with pytest.raises(DomainError, match="a deactivated record: name: 'Ports' is already the name"):
        roll_back(own_importer, without)


def test_a_roll_back_puts_no_category_below_a_child(own_importer: Importer) -> None:
    def tree(key: str, *children: str) -> dict[str, Any]:
        return {"key": key, "name": key, "children": [{"key": child, "name": child} for child in children]}

    made(own_importer, "categories", tree("top", "middle"))
    parted = made(own_importer, "categories", tree("middle"))
    made(own_importer, "categories", tree("middle", "low"))
    with pytest.raises(DomainError, match="low cannot be below middle, which is below top"):
        roll_back(own_importer, parted)
    freed = made(own_importer, "categories", tree("low"))
    made(own_importer, "categories", tree("top", "middle"))
    with pytest.raises(DomainError, match="low: children: low cannot be below middle, which is below top"):
        roll_back(own_importer, freed)


def test_a_roll_back_leaves_no_category_below_an_inactive_one(own_importer: Importer) -> None:
    def tree(key: str, *children: str) -> dict[str, Any]:
        return {"key": key, "name": key, "children": [{"key": child, "name": child} for child in children]}

    def active() -> list[Any]:
        return [key for (key,) in own_importer.query("select key from category where active order by key")]

    added = made(own_importer, "categories", tree("top", "first"))
    made(own_importer, "categories", tree("top", "first", "second"))
    with pytest.raises(DomainError, match="1 record is in use and cannot be removed: top"):
        roll_back(own_importer, added)
    done = roll_back(own_importer, added, force=True)
    assert (done.restored, done.overwritten, done.kept, active()) == (1, [], ["top"], ["second", "top"])

    gone = made(own_importer, "categories", tree("other"), replace=True)
    back = made(own_importer, "categories", tree("top"))
    made(own_importer, "categories", tree("top", "second"))
    with pytest.raises(DomainError, match="top: children: second cannot be below top, which is not active"):
        roll_back(own_importer, back, force=True)
    assert roll_back(own_importer, gone, force=True).kept == []
    assert active() == ["second", "top"]


def test_a_roll_back_that_restores_the_name_of_a_parent_puts_no_category_below_a_child(own_importer: Importer) -> None:
    def named(key: str, name: str, *children: str) -> dict[str, Any]:
        return {"key": key, "name": name, "children": [{"key": child, "name": child} for child in children]}

    made(own_importer, "categories", named("middle", "Old", "low"))
    parted = made(own_importer, "categories", named("middle", "New"), named("low", "low"))
    made(own_importer, "categories", {"key": "top", "name": "top", "children": [{"key": "middle", "name": "New"}]})
    with pytest.raises(DomainError, match="low cannot be below middle, which is below top"):
        roll_back(own_importer, parted, force=True)


def test_a_roll_back_gives_an_attribute_that_is_inactive_again_the_name_of_another(own_importer: Importer) -> None:
    made(own_importer, "attributes", {"key": "a", "name": "Ports", "type": "string"})
    made(own_importer, "attributes", {"key": "b", "name": "Ports", "type": "string"}, replace=True)
    back = made(own_importer, "attributes", {"key": "a", "name": "Sockets", "type": "string"})
    assert roll_back(own_importer, back).restored == 1
    assert own_importer.query("select key, name, active from attribute order by key") == [
        ("a", "Ports", False),
        ("b", "Ports", True),
    ]


def test_bundles_in_bundles_that_are_there_reject_no_roll_back_of_other_products(own_importer: Importer) -> None:
    made(own_importer, "products", *({"sku": sku, "name": sku, "manufacturer": "acme"} for sku in "ABCD"))
    made(own_importer, "products", {"sku": "A", "components": [{"sku": "B", "quantity": 1}]})
    made(own_importer, "products", {"sku": "C", "components": [{"sku": "D", "quantity": 1}]})
    own_importer.change(
        "update product set components = replace(components::text, '\"b\"', '\"c\"')::jsonb where sku = 'A'"
    )
    renamed = made(own_importer, "products", {"sku": "D", "name": "New"})
    assert roll_back(own_importer, renamed).restored == 1


def test_a_roll_back_puts_no_bundle_into_a_bundle(own_importer: Importer) -> None:
    made(own_importer, "products", *({"sku": sku, "name": sku, "manufacturer": "acme"} for sku in "ABC"))
    made(own_importer, "products", {"sku": "A", "components": [{"sku": "B", "quantity": 1}]})
    plain = made(own_importer, "products", {"sku": "A", "components": []})
    outer = made(own_importer, "products", {"sku": "C", "components": [{"sku": "A", "quantity": 1}]})
    with pytest.raises(DomainError, match='"A" is a bundle, so it cannot be in the bundle "C"'):
        roll_back(own_importer, plain)
    assert (roll_back(own_importer, outer).restored, roll_back(own_importer, plain).restored) == (1, 1)


ADA = {"email_address": "ada@a.example", "first_name": "Ada", "last_name": "A"}


def test_a_customer_with_another_address_stays_as_it_is(own_importer: Importer) -> None:
    made(own_importer, "customers", ADA)
    discounted = made(own_importer, "customers", {**ADA, "discount": 5})
    own_importer.change("update customer set email_address = 'a@b.example', email_key = 'a@b.example'")
    with pytest.raises(DomainError, match=r"has changed since: ada@a\.example"):
        roll_back(own_importer, discounted)
    done = roll_back(own_importer, discounted, force=True)
    assert (done.restored, done.overwritten, done.kept) == (0, [], ["ada@a.example"])
    assert own_importer.query("select email_address, discount from customer") == [("a@b.example", 5)]


def test_a_credit_limit_does_not_come_back_to_a_customer_without_terms(own_importer: Importer) -> None:
    made(own_importer, "customers", {**ADA, "credit_limit": 100, "term_days": 30})
    raised = made(own_importer, "customers", {**ADA, "credit_limit": 200, "term_days": 30})
    own_importer.change("update customer set credit_limit = null, term_days = null")
    with pytest.raises(DomainError, match=r"ada@a\.example: credit_limit and term_days go together"):
        roll_back(own_importer, raised, force=True)
