"""Stores and reads the pictures of products that staff have uploaded."""

from dataclasses import dataclass
from datetime import datetime

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture's bytes and their media type."""

    media_type: str
    content: bytes


_STORE = Statement("""
    insert into picture (digest, media_type, content, added_at) values (:digest, :media_type, :content, :now)
    on conflict (digest) do nothing
""")
_PICTURE = Statement("select media_type, content from picture where digest = :digest", Picture)


async def store_picture(tx: Transaction, digest: str, picture: Picture, now: datetime) -> None:
    """Store a picture, unless it is stored already."""
    await tx.execute(_STORE, digest=digest, media_type=picture.media_type, content=picture.content, now=now)


async def find_picture(tx: Transaction, digest: str) -> Picture | None:
    """Return the picture with a digest, or None."""
    return await tx.fetch_one(_PICTURE, digest=digest)
