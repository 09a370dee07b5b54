"""What only the kernel knows and does about connections."""

import asyncio
import ctypes
import socket
import struct
import sys
from collections.abc import Iterable

_INFO_BYTES = 128
_ACKNOWLEDGED = slice(120, 128)  # of Linux' `struct tcp_info`: tcpi_bytes_acked

_ATTACH_FILTER = 26  # Linux' SO_ATTACH_FILTER
_DROP_FIRST_SEGMENTS = (  # a classic BPF program, which sees a segment from its TCP header on
    (0x30, 0, 0, 13),  # load the byte with the flags
    (0x54, 0, 0, 0x12),  # keep SYN and ACK
    (0x15, 0, 1, 0x02),  # SYN alone?
    (0x06, 0, 0, 0),  # then drop it
    (0x06, 0, 0, 0xFFFFFFFF),  # else take it whole
)


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


def drop_new_connections(listeners: Iterable[socket.socket]) -> None:
    """Have the kernel overlook clients that begin to connect; those that have begun, and all others, go on.

    Closing a listening socket resets the connections that nobody has accepted yet, some of whose clients have sent a
    request. From here on no further ones come in: once the last is accepted, the socket can be closed. A client that is
    overlooked tries again, and is refused when it is. On systems other than Linux nothing happens.
    """
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in _DROP_FIRST_SEGMENTS)
    program = ctypes.create_string_buffer(code)
    argument = struct.pack("HL", len(_DROP_FIRST_SEGMENTS), ctypes.addressof(program))
    if sys.platform == "linux":
        for listener in listeners:
            listener.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, argument)
