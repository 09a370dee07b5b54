"""Recording payments (specification, invoice): of an invoice, at most what is due; the last completes the order."""

from decimal import Decimal

import pytest

from support.billing import invoiced, pay
from support.orders import at as at_moment
from support.orders import buy, create, dispatch, outstanding, read, rows, uk
from support.service import Service
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.payments.record_payment import pay_order


def test_payments_lower_the_debt_and_the_last_completes_the_order(shop: Service) -> None:
    customer = shop.customer(credit="66.60")
    placed = invoiced(shop, customer)
    first = pay(shop, placed, "60.00")
    assert (first.total_cost, first.total_paid, first.total_due) == (Decimal("66.60"), Decimal(60), Decimal("6.60"))
    assert (first.due_on, first.is_overdue) == ("2026-07-16T23:59:59", False)
    assert outstanding(shop, customer) == Decimal("6.60")
    assert read(customer, placed)["status"] == "Invoiced"

    last = pay(shop, placed, "6.6")
    assert (last.total_paid, last.total_due) == (Decimal("66.60"), Decimal(0))
    assert outstanding(shop, customer) == 0
    assert read(customer, placed)["status"] == "Completed"
    assert rows(
        shop,
        "select p.amount from allocation p join invoice_balance i using (invoice) join orders o on o.id = i.order_id"
        " where o.id = %s order by p.id",
        placed["order_id"],
    ) == [(Decimal("60.00"),), (Decimal("6.60"),)]
    buy(customer)  # the credit is available again


def test_an_order_paid_in_full_is_never_overdue(shop: Service) -> None:
    placed = invoiced(shop, shop.customer(term_days=0))
    with at_moment(shop, uk(2027, 1, 1)):
        assert pay(shop, placed, "60").is_overdue
        assert not pay(shop, placed, "6.60").is_overdue


@pytest.mark.parametrize("amount", ["66.61", "0", "-1", "1.001", "NaN", "1E+30"])
def test_a_rejected_amount_changes_nothing(shop: Service, amount: str) -> None:
    customer = shop.customer()
    placed = invoiced(shop, customer)
    with pytest.raises(DomainError, match=r"^amount: ") as rejected:
        pay(shop, placed, amount)
    assert rejected.value.kind is Kind.INVALID
    assert outstanding(shop, customer) == Decimal("66.60")
    assert customer.get("/customer/credit").json()["outstanding_orders"][0]["total_paid"] == 0


def test_an_overpayment_is_rejected_with_the_amount_due(shop: Service) -> None:
    placed = invoiced(shop, shop.customer())
    pay(shop, placed, "50")
    with pytest.raises(DomainError, match=r"^amount: must be at most £16\.60, which is due$"):
        pay(shop, placed, "16.61")
    pay(shop, placed, "16.60")
    with pytest.raises(DomainError, match=r"^amount: nothing is due: the order is paid in full$"):
        pay(shop, placed, "0.01")


def test_an_order_without_an_invoice_accepts_no_payment(shop: Service) -> None:
    customer = shop.customer()
    placed = buy(customer)
    dispatch(shop, placed)
    with pytest.raises(DomainError, match="has no invoice yet") as rejected:
        pay(shop, placed, "10")
    assert rejected.value.kind is Kind.CONFLICT
    assert outstanding(shop, customer) == Decimal("66.60")


def test_unknown_and_pending_orders_accept_no_payment(shop: Service) -> None:
    code = create(shop.customer())["confirmation_code"]
    for reference, kind in (("NONE-1", Kind.NOT_FOUND), (code, Kind.CONFLICT)):
        with pytest.raises(DomainError) as rejected:
            shop.in_transaction(
                lambda tx, reference=reference: pay_order(tx, reference, Decimal(1), shop.clock.now())  # type: ignore[misc]
            )
        assert rejected.value.kind is kind
