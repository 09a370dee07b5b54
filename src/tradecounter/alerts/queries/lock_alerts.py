"""The lock under which a user's alerts of stock and of e-mails change."""

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

_LOCK = Statement("select id from customer_user where id = :user_id for no key update")


async def lock_alerts(tx: Transaction, user_id: int) -> None:
    """Lock a user's row until the transaction ends, so that alerts that are set at the same time count each other.

    A change of an alert is also noted in this row. An erasure locks it before these alerts, but after those of prices.
    """
    await tx.execute(_LOCK, user_id=user_id)
