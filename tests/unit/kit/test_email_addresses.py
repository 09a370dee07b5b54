"""Which texts are e-mail addresses."""

import pytest

from tradecounter.kit.email_addresses import parse_email, parse_mailbox


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("ada@x.example", "ada@x.example"),
        ("ada+orders@mail.x.example", "ada+orders@mail.x.example"),
        ("o'hara@x.example", "o'hara@x.example"),
        ("root@localhost", "root@localhost"),
        ("ada@münchen.example", "ada@xn--mnchen-3ya.example"),
        ("jürgen@x.example", "jürgen@x.example"),
        ("a" * 244 + "@x.example", "a" * 244 + "@x.example"),
    ],
)
def test_an_address_is_read(written: str, read: str) -> None:
    assert str(parse_email(written)) == read


def test_an_address_of_the_settings_may_have_a_name() -> None:
    assert str(parse_mailbox("Ada & Söhne <ada@x.example>")) == "Ada & Söhne <ada@x.example>"
    assert str(parse_mailbox("ada@x.example")) == "ada@x.example"
    assert parse_mailbox("Ada <ada>") is None


@pytest.mark.parametrize(
    "written",
    [
        "", "Ada <ada@x.example>",
        "ada", "@x.example", "ada@", "a,b@x.example", "x@y>,<z.example", "a@b@c.example", '"ada"@x.example',
        "ada@x.example\r\nBcc: all@x.example", "ada\x07@x.example", "a..b@x.example", ".a@x.example", "a@x..example",
        "a@[127.0.0.1]", "a;b@x.example", "a:b@x.example", "(a)@x.example", "a@x.example,b@x.example",
        "a@" + "x" * 64 + ".example", "a" * 245 + "@x.example", "b" * 100_000 + "@x.example",
        "a\u200b@x.example", "a@x\u2024y.example\\",
    ],
)  # fmt: skip
def test_an_address_that_no_mail_server_could_read_is_none(written: str) -> None:
    assert parse_email(written) is None
