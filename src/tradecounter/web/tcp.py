"""What only the kernel knows of a connection."""

import asyncio
import socket

_INFO_BYTES = 128
_ACKNOWLEDGED = slice(120, 128)  # of Linux' `struct tcp_info`: tcpi_bytes_acked


def taken_bytes(transport: asyncio.Transport) -> int:
    """Return a number that changes when the client takes bytes that wait for it.

    On Linux these are the bytes that it has acknowledged. The write buffer alone would not do: the kernel lets a
    process add to a full queue only once a third of it is gone, which takes a slow client longer than a stuck one is
    given.
    """
    try:
        info = transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _INFO_BYTES)
    except (AttributeError, OSError):  # another system, or no TCP
        return -transport.get_write_buffer_size()
    return int.from_bytes(info[_ACKNOWLEDGED], "little")
