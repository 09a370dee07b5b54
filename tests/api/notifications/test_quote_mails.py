"""Support gets one e-mail for all waiting quotes of a customer, and each quote is in one e-mail only."""

from collections.abc import Iterator
from datetime import timedelta
from email.message import EmailMessage
from functools import partial
from typing import Any

import pytest

from support.mail import (
    deliver_mail,
    drain_to,
    forget_jobs,
    html,
    internal_id,
    jobs,
    let_time_pass,
    mail_server,
    message_id,
    plain,
    running_worker,
)
from support.orders import at, cancel, rows
from support.proxy import linked
from support.quotes import price_as_support, request_quote
from support.service import MORNING, Customer, Service, running_service
from support.waiting import wait_for
from tradecounter.db.installation import installation_id
from tradecounter.db.jobs import waiting_jobs
from tradecounter.notifications.context import MailContext, MailSettings
from tradecounter.notifications.quote_mails import quote_requested
from tradecounter.notifications.rules import GATHERED_FOR, MOST_QUOTES

REQUESTED = "mail_quote_requested"


@pytest.fixture(autouse=True)
def no_jobs(shop: Service) -> Iterator[None]:
    yield
    forget_jobs(shop)


def request(customer: Customer, count: int) -> list[dict[str, Any]]:
    return [request_quote(customer, customer_reference=f"PO-{number}") for number in range(count)]


def quotes_in(mails: list[EmailMessage], quotes: list[dict[str, Any]]) -> list[list[int]]:
    """Return, for each e-mail, the indexes of the quotes to price."""
    return [
        [place for place, quote in enumerate(quotes) if f"quote price {quote['confirmation_code']} " in plain(mail)]
        for mail in mails
    ]


def notified_customers(service: Service, customers: list[Customer]) -> int:
    """Return the number of customers about whom support has an e-mail."""
    [(count,)] = rows(
        service,
        "select count(distinct customer_id) from orders where support_told_at is not null and customer_id = any(%s)",
        [customer.id for customer in customers],
    )
    return int(count)


def test_quotes_that_wait_together_share_a_mail(shop: Service) -> None:
    customer = shop.customer(email_address="ada@harbour.example", company="Harbour")
    quotes = request(customer, 3)
    [mail] = deliver_mail(shop)
    assert quotes_in([mail], quotes) == [[0, 1, 2]]
    assert mail["Subject"] == "3 quotes to price: Harbour"
    assert mail["Reply-To"] == "ada@harbour.example"
    first, last = internal_id(shop, quotes[0]), internal_id(shop, quotes[2])
    assert mail["Message-ID"] == message_id(shop, f"quotes-requested-{first}-{last}-3")
    for text in (plain(mail), html(mail)):
        assert "A customer asks for 3 quotes." in text
        for number, quote in enumerate(quotes):
            assert quote["confirmation_code"] in text
            assert f"PO-{number}" in text
        assert text.count("£60.00") >= 3
    assert jobs(shop) == []
    assert deliver_mail(shop) == []


def test_each_customers_quotes_have_their_own_mail(shop: Service) -> None:
    customers = [shop.customer(company=name) for name in ("Harbour", "Quay")]
    quotes = [quote for customer in customers for quote in request(customer, 2)]
    assert sorted(quotes_in(deliver_mail(shop), quotes)) == [[0, 1], [2, 3]]


@pytest.mark.sweep
def test_quotes_requested_soon_after_a_mail_wait_and_share_the_next_one(shop: Service) -> None:
    customer = shop.customer()
    quotes = request(customer, 1)
    assert quotes_in(deliver_mail(shop), quotes) == [[0]]
    with at(shop, MORNING + GATHERED_FOR - timedelta(seconds=1)):
        quotes += request(customer, 3)
        assert deliver_mail(shop) == []
        assert [job[:2] for job in jobs(shop)] == [(REQUESTED, "todo")] * 3
        other = request(shop.customer(), 1)
        assert quotes_in(deliver_mail(shop), other) == [[0]]  # other customers do not wait
        let_time_pass(shop)
        assert deliver_mail(shop) == []
        assert jobs(shop) == [(REQUESTED, "todo", 0)] * 3  # waiting counts as no attempt
    with at(shop, MORNING + GATHERED_FOR):
        let_time_pass(shop)
        assert quotes_in(deliver_mail(shop), quotes) == [[1, 2, 3]]
    assert jobs(shop) == []


def test_a_priced_or_cancelled_quote_needs_no_mail(shop: Service) -> None:
    customer = shop.customer()
    priced, cancelled, waiting = quotes = request(customer, 3)
    price_as_support(shop, priced, ("PHONE", "1"))
    cancel(shop, cancelled)
    requests = [mail for mail in deliver_mail(shop) if "to price" in mail["Subject"]]
    assert quotes_in(requests, quotes) == [[2]]
    assert requests[0]["Subject"].startswith(f"Quote to price: {waiting['confirmation_code']}")
    assert jobs(shop) == []


def test_a_quote_whose_mail_failed_is_in_the_next_one(shop: Service) -> None:
    customer = shop.customer()
    quotes = request(customer, 1)
    with mail_server() as inbox:
        inbox.response = "554 No spam please"
        for _ in range(5):
            drain_to(shop, inbox.url)
            let_time_pass(shop)
    assert jobs(shop) == [(REQUESTED, "failed", 5)]
    quotes += request(customer, 1)
    assert quotes_in(deliver_mail(shop), quotes) == [[0, 1]]


def test_mails_that_wait_for_the_first_of_their_group_are_not_due(shop: Service) -> None:
    request(shop.customer(), 3)
    drain_to(shop, "smtp+plain://127.0.0.1:1")
    assert [job[:2] for job in jobs(shop)] == [(REQUESTED, "todo")] * 3
    waiting = shop.in_transaction(waiting_jobs)
    assert (waiting.due, waiting.later, waiting.oldest) == (0, 3, None)
    [(first,)] = rows(shop, "select min(id) from procrastinate_jobs")
    begin = "update procrastinate_jobs set status = 'doing' where id = %s returning id"
    assert rows(shop, begin, first) == [(first,)]
    waiting = shop.in_transaction(waiting_jobs)
    assert (waiting.due, waiting.later, waiting.oldest) == (0, 2, None)


def test_an_undelivered_mail_is_rebuilt_with_newer_quotes(shop: Service) -> None:
    customer = shop.customer()
    quotes = request(customer, 1)
    with mail_server() as inbox:
        inbox.response = "451 Try later"
        drain_to(shop, inbox.url)
        quotes += request(customer, 2)
        inbox.response = "250 OK"
        let_time_pass(shop)
        drain_to(shop, inbox.url)
    assert quotes_in(inbox.mails, quotes) == [[0, 1, 2]]
    assert jobs(shop) == []


def test_a_mail_about_many_quotes_takes_as_many_statements_as_one_about_one(shop: Service) -> None:
    took = []
    for count in (1, 4):
        quotes = request(shop.customer(), count)
        order_id = internal_id(shop, quotes[0])
        with linked(shop.database_url) as link, running_service(link.url) as running:
            running.in_transaction(installation_id)
            link.spoken.clear()
            context = partial(MailContext, settings=MailSettings.from_settings(running.settings), now=MORNING)
            mail = running.in_transaction(lambda tx: quote_requested(context(tx), order_id=order_id))  # noqa: B023
            assert mail is not None
            assert len(mail.quotes) == count
            took.append(link.statements)
    assert took[0] == took[1]


@pytest.mark.sweep
def test_a_mail_has_a_maximum_of_quotes_and_the_rest_follows_immediately(shop: Service) -> None:
    quotes = request(shop.customer(), MOST_QUOTES + 10)
    assert quotes_in(deliver_mail(shop), quotes) == [[*range(MOST_QUOTES)]]
    with at(shop, MORNING + GATHERED_FOR):
        let_time_pass(shop)
        assert quotes_in(deliver_mail(shop), quotes) == [[*range(MOST_QUOTES, MOST_QUOTES + 10)]]
    assert jobs(shop) == []


@pytest.mark.sweep
def test_several_workers_mail_each_quote_once(shop: Service) -> None:
    def none_left() -> bool:
        let_time_pass(shop)
        return jobs(shop) == []

    customers = [shop.customer() for _ in range(3)]
    with mail_server() as inbox, running_worker(shop, inbox.url), running_worker(shop, inbox.url):
        quotes = [quote for _ in range(4) for customer in customers for quote in request(customer, 1)]
        wait_for(lambda: notified_customers(shop, customers) == 3)  # recorded before the clock advances
        with at(shop, MORNING + GATHERED_FOR):
            wait_for(none_left)
    places = [place for mail in quotes_in(inbox.mails, quotes) for place in mail]
    assert sorted(places) == list(range(12))
    assert 3 <= len(inbox.mails) <= 6
