"""Names browsers by their `User-Agent`, as people know them."""

# The first that is found is right: Edge calls itself Chrome too, and Chrome calls itself Safari.
_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser", "Samsung Internet"),
    ("Firefox", "Firefox"),
    ("FxiOS", "Firefox"),
    ("CriOS", "Chrome"),
    ("Chrome", "Chrome"),
    ("Safari", "Safari"),
)
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)
_LONGEST = 60


def browser_name(user_agent: str) -> str:
    """Return a name such as `Firefox on Windows`; for an unknown browser, what it calls itself."""
    browser = next((name for mark, name in _BROWSERS if mark in user_agent), None)
    system = next((name for mark, name in _SYSTEMS if mark in user_agent), None)
    if browser is None:
        return user_agent[:_LONGEST] or "An unnamed browser"
    return browser if system is None else f"{browser} on {system}"
