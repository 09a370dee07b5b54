"""One-time links to priced quotes: what they show, that they accept once, and when they end."""

import re
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from support.mail import deliver_mail, forget_jobs, html, internal_id, plain, queue_job
from support.orders import at, cancel, confirm, in_parallel, outstanding, rows
from support.quotes import price_as_support, request_quote
from support.service import MORNING, Customer, Service
from support.shop import NEXT_DAY, STANDARD
from tradecounter.customers.change_account import block_customer
from tradecounter.db.transaction import transaction
from tradecounter.identity.installation_secret import secret_key
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.orders.order_context import OrderingPolicy
from tradecounter.orders.states import ConfirmedOrder
from tradecounter.quotes.price_quote import price_quote
from tradecounter.quotes.quote_links import (
    OfferedQuote,
    accept_by_link,
    link_actor,
    quote_by_link,
    quote_token,
)
from tradecounter.quotes.wire import QuotePrice

SENDER = "192.0.2.7"


def priced(shop: Service, customer: Customer, cost: str = "40") -> dict[str, Any]:
    quote = request_quote(customer)
    price_as_support(shop, quote, ("PHONE", cost))
    return quote


def token_of(shop: Service, quote: dict[str, Any]) -> str:
    order_id = internal_id(shop, quote)
    token = shop.in_transaction(lambda tx: quote_token(tx, order_id, lambda: [secret_key(shop.settings)]))
    assert token is not None
    return token


def show(shop: Service, token: str) -> OfferedQuote:
    return shop.in_transaction(lambda tx: quote_by_link(tx, token, shop.clock.now()))


def accept(shop: Service, token: str, method: int | None = STANDARD) -> ConfirmedOrder:
    """Accept a quote as the page does, in a transaction with the link's actor."""
    now, policy = shop.clock.now(), OrderingPolicy.from_settings(shop.settings)

    async def run() -> ConfirmedOrder:
        async with transaction(shop.commands, link_actor(SENDER)) as tx:
            return await accept_by_link(tx, token, method, policy, now)

    return shop.call(run)


def ended(shop: Service, token: str) -> None:
    for step in (show, accept):
        with pytest.raises(DomainError, match="this link has ended") as raised:
            step(shop, token)
        assert raised.value.kind is Kind.GONE


def test_a_link_shows_its_quote_often_and_accepts_it_once(shop: Service) -> None:
    customer = shop.customer(company="Harbour")
    quote = priced(shop, customer)
    token = token_of(shop, quote)
    for _ in range(3):
        offered = show(shop, token)
        assert offered.quote.confirmation_code == quote["confirmation_code"]
        assert ([line.sku for line in offered.lines], offered.account.name) == (["PHONE"], "Harbour")
        assert outstanding(shop, customer) == 0, "showing accepts nothing"
    order = accept(shop, token, NEXT_DAY)
    assert (order.shipping_method, order.cost_net) == (NEXT_DAY, Decimal(40))
    assert outstanding(shop, customer) == order.gross
    ended(shop, token)
    assert customer.get(f"/order/{order.order_reference}").status_code == 200


def test_the_audit_log_names_the_link_and_the_address(shop: Service) -> None:
    order = accept(shop, token_of(shop, priced(shop, shop.customer())))
    found = rows(
        shop,
        "select action, actor_kind, actor_id, actor_name, address from audit_entry where subject = %s",
        f"order/{order.order_reference}",
    )
    assert found == [("order.confirm", "user", None, "quote link", SENDER)]


def test_the_database_has_only_the_hash_of_a_link(shop: Service) -> None:
    quote = priced(shop, shop.customer())
    token = token_of(shop, quote)
    assert re.fullmatch(r"[0-9a-f]{64}", token)
    stored = rows(shop, "select to_jsonb(l)::text from quote_link l where order_id = %s", internal_id(shop, quote))
    assert token not in str(stored)
    assert token not in str(rows(shop, "select args from procrastinate_jobs"))
    order_id = internal_id(shop, quote)
    assert shop.in_transaction(lambda tx: quote_token(tx, order_id, lambda: ["another secret key"])) is None


def after_expiry(shop: Service, _customer: Customer, _quote: dict[str, Any]) -> None:
    shop.clock.advance(shop.settings.quote_lifetime + timedelta(seconds=1))


def after_decline(shop: Service, _customer: Customer, quote: dict[str, Any]) -> None:
    cancel(shop, quote)


def after_confirmation(_shop: Service, customer: Customer, quote: dict[str, Any]) -> None:
    assert confirm(customer, quote).status_code == 200


def after_another_price(shop: Service, _customer: Customer, quote: dict[str, Any]) -> None:
    price_as_support(shop, quote, ("PHONE", "45"))


@pytest.mark.parametrize("step", [after_expiry, after_decline, after_confirmation, after_another_price])
def test_a_link_ends(shop: Service, step: Callable[[Service, Customer, dict[str, Any]], None]) -> None:
    customer = shop.customer()
    quote = priced(shop, customer)
    token = token_of(shop, quote)
    with at(shop, MORNING):
        step(shop, customer, quote)
        ended(shop, token)
        if step is after_another_price:
            assert show(shop, token_of(shop, quote)).quote.cost_net == 45
    ended(shop, "0" * 64)


def test_an_acceptance_that_fails_leaves_the_link_good(shop: Service) -> None:
    customer = shop.customer(credit="70.00")
    token = token_of(shop, priced(shop, customer))
    for method, kind in ((None, Kind.PRECONDITION_FAILED), (999, Kind.INVALID)):
        with pytest.raises(DomainError) as raised:
            accept(shop, token, method)
        assert raised.value.kind is kind
    assert confirm(customer, priced(shop, customer)).status_code == 200
    with pytest.raises(DomainError) as raised:
        accept(shop, token)
    assert raised.value.kind is Kind.PAYMENT_REQUIRED
    assert show(shop, token).quote.cost_net == 40


def test_simultaneous_acceptances_confirm_once(shop: Service) -> None:
    customer = shop.customer()
    token = token_of(shop, priced(shop, customer))

    def attempt() -> str:
        try:
            return accept(shop, token).order_reference
        except DomainError as error:
            return error.kind.name

    results = in_parallel([attempt] * 4)
    assert sorted(result == "GONE" for result in results) == [False, True, True, True]


def test_a_blocked_customers_link_is_rejected(shop: Service) -> None:
    customer = shop.customer()
    token = token_of(shop, priced(shop, customer))
    shop.in_transaction(lambda tx: block_customer(tx, customer.id, "a test", shop.clock.now()))
    for step in (show, accept):
        with pytest.raises(DomainError) as raised:
            step(shop, token)
        assert raised.value.kind is Kind.CONFLICT


def test_without_a_secret_key_a_new_price_ends_the_link_and_makes_none(shop: Service) -> None:
    quote = priced(shop, shop.customer())
    token, code, now = token_of(shop, quote), quote["confirmation_code"], shop.clock.now()
    shop.in_transaction(lambda tx: price_quote(tx, code, QuotePrice(), now, timedelta(days=7), None))
    ended(shop, token)
    order_id = internal_id(shop, quote)
    assert shop.in_transaction(lambda tx: quote_token(tx, order_id, lambda: [secret_key(shop.settings)])) is None


def test_the_mails_of_a_priced_quote_have_both_links(shop: Service) -> None:
    forget_jobs(shop)
    quote = priced(shop, shop.customer(order_mails=True))
    token = token_of(shop, quote)
    [mail] = [m for m in deliver_mail(shop, base_url="https://shop.example/api") if "is priced" in m["Subject"]]
    for text in (plain(mail), html(mail)):
        assert f"https://shop.example/api/account/quote/{quote['confirmation_code']}" in text
        assert f"https://shop.example/api/account/quote-link/{token}" in text
    with at(shop, MORNING + shop.settings.quote_lifetime - timedelta(hours=1)):
        order_id = internal_id(shop, quote)
        queue_job(shop, "mail_quote_expiring", order_id=order_id, pricing=1)
        [reminder] = deliver_mail(shop)
        assert f"http://127.0.0.1:8000/account/quote-link/{token}" in plain(reminder)
