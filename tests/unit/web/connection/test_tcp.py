"""The socket options of connections."""

import socket

import pytest

from tradecounter.edge.server.connection.connections import drop_new_connections


@pytest.mark.parametrize(("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_new_connections_are_overlooked_and_those_that_have_begun_go_on(
    family: socket.AddressFamily, host: str
) -> None:
    with socket.create_server((host, 0), family=family) as listener:
        place = listener.getsockname()[:2]
        with (
            socket.create_connection(place, timeout=5) as accepted,
            socket.create_connection(place, timeout=5) as waiting,
        ):
            end, _ = listener.accept()
            drop_new_connections([listener])
            with pytest.raises(TimeoutError):
                socket.create_connection(place, timeout=0.3)
            waiting_end, _ = listener.accept()
            for client, served in ((accepted, end), (waiting, waiting_end)):
                client.sendall(b"hello")
                assert served.recv(5) == b"hello"
                served.sendall(b"received")
                assert client.recv(8) == b"received"
                served.close()
        listener.close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(place, timeout=5)


def test_a_kernel_that_permits_no_filter_does_not_disturb_the_shutdown() -> None:
    lock_filter = 44  # Linux' SO_LOCK_FILTER: from now on, attaching one is not permitted
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, lock_filter, 1)
        drop_new_connections([listener])
        with socket.create_connection(listener.getsockname(), timeout=5):
            listener.accept()[0].close()
