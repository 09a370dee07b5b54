from ipaddress import ip_address, ip_network

import pytest

from tradecounter.kit.web_addresses import may_connect_to

PUBLIC = ["93.184.216.34", "2606:4700::1111", "::ffff:93.184.216.34", "64:ff9b::5db8:d822", "2002:5db8:d822::1"]
NOT_PUBLIC = [
    "127.0.0.1", "127.9.9.9", "0.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
    "100.100.100.200", "192.0.0.192", "198.18.0.1", "192.0.2.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
    "168.63.129.16", "::", "::1", "::127.0.0.1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "fec0::1",
    "ff02::1", "2001:db8::1", "2001:0:53aa:64c::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
    "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a00:1", "2002:7f00:1::1", "2002:a9fe:a9fe::",
]  # fmt: skip


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_allowed(address: str) -> None:
    assert may_connect_to(ip_address(address))


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_other_addresses_are_not(address: str) -> None:
    assert not may_connect_to(ip_address(address))


def test_the_operators_networks_are_allowed_however_they_are_written() -> None:
    networks = [ip_network("10.0.0.0/8"), ip_network("fd00::/8")]
    allowed = ["10.1.2.3", "::ffff:10.1.2.3", "64:ff9b::a01:203", "fd00::1"]
    assert all(may_connect_to(ip_address(address), networks) for address in allowed)
    assert not may_connect_to(ip_address("192.168.0.1"), networks)
