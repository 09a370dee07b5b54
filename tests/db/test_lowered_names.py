"""Names are found in what a database has lowered, whatever its locale lowers."""

import psycopg
import pytest

from tradecounter.kit.text import lowered_pattern


@pytest.mark.parametrize("collation", ["C", "pg_c_utf8", "en-x-icu"])
@pytest.mark.parametrize(
    ("stored", "typed"),
    [
        ("\u00c9lan", "\u00e9LAN"),
        ("\u0130stanbul", "\u0130stanbul"),
        ("STRA\u1e9eE", "stra\u1e9ee"),
        ("\u01c5ungla", "\u01c5ungla"),
        ("\u039f\u0394\u039f\u03a3", "\u039f\u0394\u039f\u03a3"),
        ("\u039f\u0394\u039f\u03a3", "\u03bf\u03b4\u03bf\u03c2"),
        ("A+B (UK)", "a+b (uk)"),
    ],
)
def test_a_name_is_found_in_a_database_of_any_locale(
    database_url: str, collation: str, stored: str, typed: str
) -> None:
    with psycopg.connect(database_url) as connection:
        known = connection.execute("select 1 from pg_collation where collname = %s", [collation]).fetchone()
        collate = f'"{collation if known else "C"}"'
        found = connection.execute(f"select lower(%s collate {collate}) ~ %s", [stored, lowered_pattern(typed)])
        assert found.fetchone() == (True,)
