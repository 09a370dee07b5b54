"""The lock under which a user's alerts change."""

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

_LOCK = Statement("select id from customer_user where id = :user_id for no key update")


async def lock_alerts(tx: Transaction, user_id: int) -> None:
    """Lock a user's alerts until the transaction ends, so that requests at the same time count each other's.

    What changes an alert also notes the change in the user's row, which an erasure locks first.
    """
    await tx.execute(_LOCK, user_id=user_id)
