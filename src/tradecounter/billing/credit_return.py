"""Credits what came back with a return."""

from datetime import datetime

from tradecounter.billing.issue_credit_note import credit_units
from tradecounter.billing.queries.ledger import lock_account
from tradecounter.billing.reseller_wire import CreditNote
from tradecounter.db.transaction import Transaction
from tradecounter.letterhead.seller import Letterhead
from tradecounter.ordering.queries.returns import lines_of_returns
from tradecounter.ordering.returns.find_return import the_return
from tradecounter.ordering.returns.receive_return import Units, credit_returned_units, receive_return
from tradecounter.ordering.returns.wire import return_number


async def receive_and_credit(
    tx: Transaction, number: str, restocked: Units, scrapped: Units, letterhead: Letterhead, now: datetime
) -> list[CreditNote]:
    """Receive units of a return, and credit all its received units that are invoiced and not credited yet.

    Raises DomainError as `receive_return` and `issue_credit_note` do.
    """
    found = await the_return(tx, number)
    await lock_account(tx, found.customer_id)
    await receive_return(tx, number, restocked, scrapped, now)
    [lines] = (await lines_of_returns(tx, [found.id])).values()
    if not any(line.uncredited for line in lines):
        return []
    units = await credit_returned_units(tx, number, now)
    reason = f"Return {return_number(found.id)}: {found.reason}"
    return await credit_units(tx, found.order_id, units, reason, letterhead, now)
