"""The SQL of uploaded pictures."""

from datetime import datetime

from msgspec import Struct

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


class Picture(Struct, frozen=True):
    """A picture's bytes and their media type."""

    media_type: str
    content: bytes


_STORE = Statement("""
    insert into picture (digest, media_type, content, added_at) values (:digest, :media_type, :content, :now)
    on conflict (digest) do nothing
""")
_MEDIA_TYPE = Statement("select media_type from picture where digest = :digest")
_CONTENT = Statement("select content from picture where digest = :digest")


async def store_picture(tx: Transaction, digest: str, picture: Picture, now: datetime) -> None:
    """Store a picture, unless it is stored already."""
    await tx.execute(_STORE, digest=digest, media_type=picture.media_type, content=picture.content, now=now)


async def find_media_type(tx: Transaction, digest: str) -> str | None:
    """Return the media type of the picture with a digest, or None."""
    media_type: str | None = await tx.find_value(_MEDIA_TYPE, digest=digest)
    return media_type


async def content_of(tx: Transaction, digest: str) -> bytes:
    """Return the content of a picture that is there."""
    content: bytes = await tx.fetch_value(_CONTENT, digest=digest)
    return content
