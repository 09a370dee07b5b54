"""The countries in forms of addresses: those of the British Isles first."""

import pycountry

_FIRST = ("GB", "IE", "IM", "JE", "GG")
_NAMES = {country.alpha_2: country.name for country in pycountry.countries}

COUNTRIES: list[tuple[str, str]] = [
    *((code, _NAMES[code]) for code in _FIRST),
    *sorted(((code, name) for code, name in _NAMES.items() if code not in _FIRST), key=lambda pair: pair[1]),
]
