"""Host names of other machines that lead to this one."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def names_of_this_machine(*names: str) -> Iterator[None]:
    """Let host names resolve to 127.0.0.1 while the block runs."""
    resolve, known = socket.getaddrinfo, {*names, *map(str.encode, names)}

    def resolve_here(host: Any, *others: Any, **options: Any) -> Any:
        return resolve("127.0.0.1" if host in known else host, *others, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", resolve_here)
        yield
