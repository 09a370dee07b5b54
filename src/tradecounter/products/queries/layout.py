"""The catalogue's layout in the database."""

from tradecounter.db.arrays import fetch_binary
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

_DELETE = Statement("delete from catalogue_layout")
_ADD = Statement("""
    insert into catalogue_layout (version, program, data)
    select version, :program, :data from change where topic = 'catalogue'
""")


async def replace_layout(tx: Transaction, program: str, data: bytes) -> None:
    """Store the layout of the catalogue's version in this transaction instead of the last one."""
    await tx.execute(_DELETE)
    await tx.execute(_ADD, program=program, data=data)


_FIND = Statement("""
    select data from catalogue_layout l join change c on c.version = l.version
    where c.topic = 'catalogue' and l.program = :program
""")


async def find_layout(tx: Transaction, program: str) -> bytes | None:
    """Return the layout that this program stored of the catalogue's version in this transaction, or None."""
    return await fetch_binary(tx, _FIND, program=program)
