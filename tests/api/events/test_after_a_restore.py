"""After a restore from a backup: no number is given out twice, and whoever reads events learns of it.

`make drill` restores a real backup; here a database is only told that it was restored.
"""

from datetime import timedelta

import pytest

from support.billing import invoiced
from support.events import last_sequence, number_events
from support.orders import buy, rows
from support.people import choose_password, customer_user, invitation_of_member
from support.service import Service
from tradecounter.db.invariants import MissingNumbers, missing_invoices
from tradecounter.installation.recovery.continue_after_restore import Continuation, continue_after_restore
from tradecounter.kit.errors import DomainError


def restored(shop: Service, last_invoice: int, ids: int = 1000) -> Continuation:
    [(credit_note,)] = rows(shop, "select last from credit_note_number")
    return shop.in_transaction(
        lambda tx: continue_after_restore(
            tx, last_invoice=last_invoice, last_credit_note=credit_note, ids=ids, now=shop.clock.now()
        )
    )


def last_invoice(shop: Service) -> int:
    [(number,)] = rows(shop, "select last from invoice_number")
    return int(number)


def test_a_program_that_has_read_lost_events_learns_of_it_and_misses_nothing(own_shop: Service) -> None:
    customer, other = own_shop.customer(), own_shop.customer()
    own_shop.clock.advance(timedelta(seconds=0.25))
    buy(customer)
    end = last_sequence(own_shop)
    lost_position = end + 57  # read before the restore, of events that no longer exist
    done = restored(own_shop, last_invoice(own_shop))
    assert (done.last_sequence, done.lost_invoices, done.kept_until) == (end, None, own_shop.clock.now())
    placed = buy(customer)
    number_events(own_shop)
    told, *after = customer.get(f"/event?after={lost_position}").json()
    assert (told["type"], told["subject"]) == ("log.restored", f"customer/{customer.id}")
    assert told["data"] == {"kept_until": "2026-06-16T08:00:00Z", "last_sequence": end}
    assert told["sequence"] > end + 10_000
    assert [event["data"]["order_reference"] for event in after] == [placed["order_reference"]]
    [told_too] = other.get(f"/event?after={end}").json()
    assert told_too["data"] == told["data"]
    [log] = rows(own_shop, "select data from event where type = 'log.restored' and customer_id is null")
    assert log[0] == {**told["data"], "lost_invoices": None, "lost_credit_notes": None}


def test_numbers_and_ids_that_were_given_out_are_left_out(own_shop: Service) -> None:
    customer = own_shop.customer()
    before = buy(customer)
    restored(own_shop, last_invoice(own_shop))
    after = buy(customer)
    assert after["order_id"] > before["order_id"] + 1000
    assert (
        int(after["order_reference"].removeprefix("ORD-")) > int(before["order_reference"].removeprefix("ORD-")) + 1000
    )
    assert own_shop.customer().id > customer.id + 1000


def test_invoices_go_on_after_the_lost_ones_whose_gap_is_known(own_shop: Service) -> None:
    customer = own_shop.customer()
    invoiced(own_shop, customer)
    first = last_invoice(own_shop)
    assert restored(own_shop, first + 3).lost_invoices == (first + 1, first + 3)
    assert own_shop.in_transaction(missing_invoices) == []
    invoiced(own_shop, customer)
    assert last_invoice(own_shop) == first + 4
    number_events(own_shop)
    assert own_shop.in_transaction(missing_invoices) == []
    rows(own_shop, "update invoice_number set last = last + 1 returning last")
    assert own_shop.in_transaction(missing_invoices) == [MissingNumbers(first + 5, first + 5)]
    with pytest.raises(DomainError, match="last-invoice: the restored database has"):
        restored(own_shop, first)


def test_sessions_and_links_that_may_have_ended_since_end(own_shop: Service) -> None:
    person = customer_user(own_shop)
    cookie = person.sign_in().cookie
    link = invitation_of_member(own_shop, "new@reseller.example")
    assert person.session(cookie) is not None
    restored(own_shop, last_invoice(own_shop))
    assert person.session(cookie) is None
    with pytest.raises(DomainError, match="this link has been used or has expired"):
        choose_password(own_shop, "staff", link)
    assert person.session(person.sign_in().cookie) is not None
