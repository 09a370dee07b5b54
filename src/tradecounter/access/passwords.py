"""Hashes passwords with Argon2, off the event loop.

The costs are those that OWASP recommends for servers: 19 MiB and some thirty milliseconds for each hash.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

_AT_ONCE = 2

_hasher = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
_threads = ThreadPoolExecutor(_AT_ONCE, "password")
# Verified in place of a hash that does not exist, so that the time does not tell which accounts do.
_NO_HASH = "$argon2id$v=19$m=19456,t=2,p=1$c29tZS1maXhlZC1zYWx0$0000000000000000000000000000000000000000000"


async def hash_password(password: str) -> str:
    """Return the hash of a password; at most two are made at a time."""
    return await asyncio.get_running_loop().run_in_executor(_threads, _hasher.hash, password)


async def is_right(password: str, stored: str | None) -> bool:
    """Return whether a password has a hash; without a hash, takes the same time and returns False."""
    return await asyncio.get_running_loop().run_in_executor(_threads, _is_right, password, stored)


def _is_right(password: str, stored: str | None) -> bool:
    try:
        _hasher.verify(stored or _NO_HASH, password)
    except (VerificationError, InvalidHashError):
        return False
    return stored is not None
