"""Reads and controls the kernel's state of connections."""

import asyncio
import ctypes
import socket
import struct
import sys
from collections.abc import Iterable
from contextlib import suppress

_INFO_BYTES = 128
_ACKNOWLEDGED = slice(120, 128)  # of Linux' `struct tcp_info`: tcpi_bytes_acked

_ATTACH_FILTER = 26  # Linux' SO_ATTACH_FILTER
_DROP_FIRST_SEGMENTS = (  # a classic BPF program; its input begins with the TCP header
    (0x30, 0, 0, 13),  # load the flags
    (0x54, 0, 0, 0x12),  # keep SYN and ACK
    (0x15, 0, 1, 0x02),  # only SYN?
    (0x06, 0, 0, 0),  # then drop it
    (0x06, 0, 0, 0xFFFFFFFF),  # else accept the whole segment
)


def taken_bytes(transport: asyncio.Transport) -> int:
    """Return a number that changes when the client reads sent bytes.

    On Linux, this is the number of acknowledged bytes. The write buffer's size is not sufficient: the kernel accepts
    more data only when a third of a full queue was sent, which can take a slow client too long.
    """
    try:
        info = transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _INFO_BYTES)
    except (AttributeError, OSError):  # another system, or no TCP
        return -transport.get_write_buffer_size()
    return int.from_bytes(info[_ACKNOWLEDGED], "little")


def drop_new_connections(listeners: Iterable[socket.socket]) -> None:
    """Make the kernel ignore new connection attempts; existing connections are unaffected. Does nothing outside Linux.

    Closing a listening socket resets connections in the backlog, some of which have sent a request. After this call no
    new ones arrive, so the socket can be closed when the backlog is empty. Ignored clients retry and are then refused.
    Some containers may not attach filters: there, connections of the last moment can be reset.
    """
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in _DROP_FIRST_SEGMENTS)
    program = ctypes.create_string_buffer(code)
    argument = struct.pack("HL", len(_DROP_FIRST_SEGMENTS), ctypes.addressof(program))
    if sys.platform == "linux":
        for listener in listeners:
            with suppress(OSError):
                listener.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, argument)
