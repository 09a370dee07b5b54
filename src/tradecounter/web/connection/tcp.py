"""What the kernel knows and does about connections."""

import asyncio
import ctypes
import socket
import struct
import sys
from collections.abc import Iterable

_INFO_BYTES = 128
_ACKNOWLEDGED = slice(120, 128)  # of Linux' `struct tcp_info`: tcpi_bytes_acked

_ATTACH_FILTER = 26  # Linux' SO_ATTACH_FILTER
_DROP_FIRST_SEGMENTS = (  # a classic BPF program; its input begins with the TCP header
    (0x30, 0, 0, 13),  # load the byte with the flags
    (0x54, 0, 0, 0x12),  # keep SYN and ACK
    (0x15, 0, 1, 0x02),  # SYN alone?
    (0x06, 0, 0, 0),  # then drop it
    (0x06, 0, 0, 0xFFFFFFFF),  # else take it whole
)


def taken_bytes(transport: asyncio.Transport) -> int:
    """Return a number that changes when the client reads bytes that wait for it.

    On Linux, that is the number of acknowledged bytes. The size of the write buffer is not enough: the kernel accepts
    more data only when a third of a full queue is gone, which a slow client may not reach in time.
    """
    try:
        info = transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _INFO_BYTES)
    except (AttributeError, OSError):  # another system, or no TCP
        return -transport.get_write_buffer_size()
    return int.from_bytes(info[_ACKNOWLEDGED], "little")


def drop_new_connections(listeners: Iterable[socket.socket]) -> None:
    """Let the kernel ignore clients that begin to connect; has no effect on other connections and other systems.

    Closing a listening socket resets the connections that are not accepted yet, some of which have sent a request. From
    now on there are no new ones, so the socket can be closed when the last is accepted. Ignored clients retry, and are
    refused after that.
    """
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in _DROP_FIRST_SEGMENTS)
    program = ctypes.create_string_buffer(code)
    argument = struct.pack("HL", len(_DROP_FIRST_SEGMENTS), ctypes.addressof(program))
    if sys.platform == "linux":
        for listener in listeners:
            listener.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, argument)
