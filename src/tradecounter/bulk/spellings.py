"""Keeps keys of referenced records in their stored spelling, so that no two differ in case or composition alone."""

from collections.abc import Iterable, Sequence

from psycopg.sql import SQL, Identifier

from tradecounter.bulk.kinds import Check
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.keys import Spellings


async def stored_keys(tx: Transaction, table: str) -> Sequence[str]:
    """Return all keys of a table."""
    sql = SQL("select key from {} order by key").format(Identifier(table))
    return [key for (key,) in await tx.fetch_all(Statement(sql))]


def no_twins(table: str, staged: SQL, name: str) -> Check:
    """Return the check that staged keys are spelled as the stored ones, also those stored since rows were staged."""
    sql = Statement(SQL("select min(line), {0} from staged s where {0} is not null group by 2").format(staged))

    async def twins(tx: Transaction) -> Iterable[tuple[int, str]]:
        stored = Spellings(await stored_keys(tx, table))
        return [
            (line, f"{name}: {key!r} has meanwhile become {stored.of(key)!r}: import the file again")
            for line, key in await tx.fetch_all(sql)
            if stored.of(key) != key
        ]

    return twins
