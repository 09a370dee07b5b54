import pytest

from tradecounter.access.browser_names import browser_name


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"),
        (
            "Mozilla/5.0 (Windows NT 10.0; Win64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36",
            "Chrome on Windows",
        ),
        (
            "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36 Edg/140.0",
            "Edge on Windows",
        ),
        (
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) AppleWebKit/605.1 (KHTML, like Gecko) Version/18 Safari/605",
            "Safari on macOS",
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1 (KHTML, like Gecko) CriOS/140",
            "Chrome on iPhone",
        ),
        ("curl/8.14", "curl/8.14"),
        ("", "An unnamed browser"),
        ("Firefox", "Firefox"),
    ],
)
def test_a_browser_has_a_name_for_people(user_agent: str, name: str) -> None:
    assert browser_name(user_agent) == name
