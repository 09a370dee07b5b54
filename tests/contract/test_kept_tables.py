"""The operators' guide says of every table how long its rows are kept."""

import re
from collections import Counter

import psycopg

from support.guide import operators_page

HEADING = "## How long each table's rows are kept"


def test_the_guide_names_every_table_once_with_how_long_it_is_kept(database_url: str) -> None:
    with psycopg.connect(database_url) as database:
        found = database.execute("select tablename from pg_tables where schemaname = current_schema()").fetchall()
    chapter = operators_page("personal-data").partition(HEADING)[2].partition("\n## ")[0]
    table_rows = [line.strip("|").split("|") for line in chapter.splitlines() if line.startswith("| `")]
    assert all(len(row) == 3 and row[2].strip() for row in table_rows)
    named = Counter(name for row in table_rows for name in re.findall(r"`(\w+)`", row[0]))
    assert named == Counter({name: 1 for (name,) in found})
