"""Compares what the service stores and shows with a naive twin's books."""

from decimal import Decimal

from support.naive_desk import NaiveDesk
from support.naive_money import NaiveBooks
from support.naive_orders import uk_day
from support.orders import rows
from support.reseller_steps import ResellerSteps
from support.service import Service

Mark = tuple[int, int]


def log_since(shop: Service, mark: Mark) -> tuple[list[tuple[str, str]], Mark]:
    """What both logs have recorded since a mark, and the next mark."""
    found = rows(
        shop,
        "select 'event', position, type from unnumbered_event where position > %s"
        " union all select 'audit', id, action from audit_entry where id > %s",
        *mark,
    )
    event, entry = (
        max([last, *(number for log, number, _ in found if log == name)])
        for name, last in zip(("event", "audit"), mark, strict=True)
    )
    return [(log, what) for log, _, what in found], (event, entry)


def assert_books_agree(shop: Service, books: NaiveBooks) -> None:
    """Orders and their units, stock, exposure and documents are those of the books."""
    _assert_orders_agree(shop, books)
    _assert_stock_agrees(shop, books)
    _assert_money_agrees(shop, books, list(books.customers))


def _assert_stock_agrees(shop: Service, books: NaiveBooks) -> None:
    found = rows(
        shop,
        "select p.sku, available, allocated, back_ordered from stock_level l join product p on p.id = l.product_id"
        " where p.sku = any(%s)",
        list(books.products),
    )
    assert {sku: tuple(units) for sku, *units in found} == {sku: books.level(sku) for sku in books.products}


def _assert_orders_agree(shop: Service, books: NaiveBooks) -> None:
    found = rows(
        shop,
        "select o.confirmation_code, o.state, o.status, o.gross, o.paid, o.credited, l.lines from orders o"
        " cross join lateral (select array_agg(array[id, quantity, allocated, back_ordered, dispatched, cancelled,"
        " returned, unbilled] order by position) as lines from order_line where order_id = o.id) as l"
        " where o.customer_id = any(%s)",
        list(books.customers),
    )
    stored = {code: values for code, *values in found}
    assert stored.keys() == books.orders.keys()
    for code, order in books.orders.items():
        state, status, gross, paid, credited, lines = stored[code]
        assert (state, status, paid, credited) == (order.state, order.status, order.paid, order.credited), code
        if order.number:
            assert gross == order.gross, code
        if order.is_confirmed:
            for _, quantity, allocated, back_ordered, dispatched, *_ in lines:
                assert quantity == allocated + back_ordered + dispatched
            if status == "Awaiting dispatch":  # the count of orders to dispatch reads no lines of these
                assert any(line[2] for line in lines), code
            assert lines == [
                [
                    line.id,
                    line.wanted,
                    line.allocated,
                    line.back_ordered,
                    line.dispatched,
                    line.cancelled,
                    line.returned,
                    line.unbilled,
                ]
                for line in order.lines
            ], code


def _assert_money_agrees(shop: Service, books: NaiveBooks, customers: list[int]) -> None:
    owed = rows(
        shop,
        "select c.id, coalesce(e.outstanding, 0), coalesce(b.unallocated, 0) from customer c"
        " left join credit_exposure e on e.customer_id = c.id left join account_balance b on b.customer_id = c.id"
        " where c.id = any(%s) order by c.id",
        customers,
    )
    expected = [(each, books.outstanding(each), books.unallocated(each)) for each in sorted(customers)]
    assert owed == expected
    invoices = rows(
        shop,
        "select invoice, gross, paid, credited, due from invoice_balance where customer_id = any(%s)",
        customers,
    )
    assert {number: tuple(values) for number, *values in invoices} == {
        number: (i.gross, sum(i.paid.values(), Decimal(0)), i.credited, i.due) for number, i in books.invoices.items()
    }
    returns = rows(
        shop,
        "select 'RMA-' || r.id, r.state from order_return r join orders o on o.id = r.order_id"
        " where o.customer_id = any(%s)",
        customers,
    )
    assert dict(returns) == {number: found.state for number, found in books.returns.items()}


def assert_desk_agrees(shop: Service, books: NaiveDesk) -> None:
    """Baskets, requests and expected deliveries are those of the books."""
    customers, people = list(books.customers), list(books.users)
    baskets: dict[int, list[tuple[str, int]]] = {person: [] for person in people}
    for person, sku, quantity in rows(
        shop,
        "select user_id, sku, quantity from basket_line join product on id = product_id where user_id = any(%s)"
        " order by position",
        people,
    ):
        baskets[person].append((sku, quantity))
    assert baskets == {user.id: books.form(user).lines for user in books.users.values()}
    lists = rows(
        shop,
        "select id, customer_id, user_id, (select array_agg(p.sku || ' ' || n.quantity order by n.position)"
        " from saved_list_line n join product p on p.id = n.product_id where n.list_id = l.id) from saved_list l"
        " where customer_id = any(%s)",
        customers,
    )
    assert {list_id: tuple(values) for list_id, *values in lists} == {
        list_id: (
            found.customer,
            None if found.is_shared else found.user,
            [f"{sku} {units}" for sku, units in found.units.items()],
        )
        for list_id, found in books.lists.items()
    }
    _assert_approvals_agree(shop, books, customers)
    asked = rows(
        shop,
        "select r.id, confirmation_code, r.kind, closed_at is null, closed_by is null, answer = '',"
        " (select coalesce(jsonb_agg(jsonb_build_array(item -> 'id', item -> 'quantity')), '[]')"
        " from jsonb_array_elements(items) as item) from customer_request r join orders o on o.id = order_id"
        " where customer_id = any(%s)",
        customers,
    )
    assert {number: values for number, *values in asked} == {
        number: [each.code, each.kind, *[each.is_open] * 3, [list(units) for units in each.items]]
        for number, each in books.requests.items()
    }
    expected = rows(
        shop,
        "select sku, (expected_on at time zone 'Europe/London')::date, incoming from incoming_stock"
        " join product on id = product_id where sku = any(%s)",
        list(books.products),
    )
    assert {(sku, day): units for sku, day, units in expected} == books.deliveries


def _assert_approvals_agree(shop: Service, books: NaiveDesk, customers: list[int]) -> None:
    """What waits has no units, no number and no decision; what is declined was not ordered because of the request."""
    found = rows(
        shop,
        "select confirmation_code, requested_by, a.shipping_method, a.state, decided_by is not null,"
        " number is not null, o.state, coalesce((select sum(allocated + dispatched) from order_line l"
        " where l.order_id = o.id), 0) from order_approval a join orders o on o.id = order_id"
        " where customer_id = any(%s)",
        customers,
    )
    assert {code: tuple(values[:3]) for code, *values in found} == {
        code: (each.user, each.method, each.state) for code, each in books.approvals.items()
    }
    for code, _, _, state, is_decided, is_numbered, order_state, units in found:
        assert is_decided == (state != "waiting"), code
        assert is_numbered or (order_state in {"pending", "expired", "cancelled"} and not units), code
        if state == "approved":
            assert is_numbered, code
        if state == "declined" and books.orders[code].kind == "order":
            assert not is_numbered, code


def assert_statement_agrees(shop: Service, steps: ResellerSteps, books: NaiveBooks, customer: int) -> None:
    shown = steps.statement(customer)
    entries = [
        (entry["kind"], entry["number"], pounds(entry["debit"]) - pounds(entry["credit"])) for entry in shown["entries"]
    ]
    assert sorted(entries) == sorted(books.entries[customer])
    assert pounds(shown["opening_balance"]) == 0
    assert pounds(shown["closing_balance"]) == books.balance(customer)
    assert [pounds(due) for due in shown["ageing"].values()] == books.ageing(customer, uk_day(shop.clock.now()))
    assert pounds(shown["unallocated"]) == books.unallocated(customer)
    balance = Decimal(0)
    for entry in shown["entries"]:
        balance += pounds(entry["debit"]) - pounds(entry["credit"])
        assert pounds(entry["balance"]) == balance


def pounds(amount: float) -> Decimal:
    """An amount on the wire."""
    return Decimal(str(amount))
