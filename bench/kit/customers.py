"""Two thousand customers: 20 price profiles, and 200 of them with contract prices; each with a key."""

import hashlib
import json
from pathlib import Path

import psycopg

COUNT = 2000
CONTRACT_PRICES = 20  # of each of those
DISCOUNTS = ("0", "2.5", "5", "7.5", "10")
FURTHER_LISTS = {"silver": 96, "gold": 92, "platinum": 88}  # per cent of the default list
LISTS = ("default", *FURTHER_LISTS)
SHIPPING_METHOD = 101

PROFILES = len(LISTS) * len(DISCOUNTS)
# A tenth of the customers, and so of the requests in rotation; of every profile some.
WITH_CONTRACTS = [number for number in range(COUNT) if number % 10 == number // PROFILES % 10]

ADDRESS = {
    "contact_name": "Sam Fitter",
    "street_one": "1 Site Road",
    "city": "Leeds",
    "zip": "LS1 4AP",
    "country_code": "GB",
}


def key_of(number: int) -> str:
    """Return the key of a customer, counted from 0."""
    return hashlib.sha256(f"bench key {number}".encode()).hexdigest()


def email_of(number: int) -> str:
    """Return a customer's e-mail address."""
    return f"buyer{number}@customers.example"


def write_customers(path: Path) -> Path:
    """Write an import file of the customers; their profiles are the lists times the discounts."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(COUNT):
            row = {
                "email_address": email_of(number),
                "first_name": "Ada",
                "last_name": f"Buyer {number}",
                "company": f"Customer {number} Ltd",
                "price_list": LISTS[number % len(LISTS)],
                "discount": float(DISCOUNTS[number // len(LISTS) % len(DISCOUNTS)]),
                "credit_limit": 1_000_000_000,
                "term_days": 30,
                "shipping_method": SHIPPING_METHOD,
            }
            file.write(json.dumps(row) + "\n")
    return path


def write_shipping_methods(path: Path) -> Path:
    """Write an import file of three shipping methods."""
    with path.open("w", encoding="utf-8") as file:
        for number, (name, cost, days) in enumerate((("economy", 4.2, 3), ("next day", 6.45, 1), ("noon", 11.9, 1))):
            row = {
                "id": SHIPPING_METHOD + number,
                "provider": "Northway Parcels",
                "description": f"UK mainland {name}",
                "region": 1,
                "countries": ["GB"],
                "max_weight_kg": 30_000,
                "base_cost_net": cost,
                "cost_per_kg_net": 0.12,
                "transit_days": days,
                "cut_off": "17:00",
            }
            file.write(json.dumps(row) + "\n")
    return path


def add_price_lists(connection: psycopg.Connection) -> None:
    """Make the further price lists from the default one: by SQL, since the imports are measured elsewhere."""
    for key, percent in FURTHER_LISTS.items():
        connection.execute("insert into price_list (key) values (%s)", [key])
        connection.execute(
            """
            insert into price (price_list, product_id, single_unit_cost, five_plus_unit_cost, ten_plus_unit_cost)
            select %(key)s, product_id, round(single_unit_cost * %(percent)s / 100, 2),
                   round(five_plus_unit_cost * %(percent)s / 100, 2), round(ten_plus_unit_cost * %(percent)s / 100, 2)
            from price where price_list = 'default'
            """,
            {"key": key, "percent": percent},
        )
    _announce(connection, "prices")


def add_keys_and_contracts(connection: psycopg.Connection) -> list[int]:
    """Give every customer its key, and a tenth of them contract prices; return the customers' ids, in their order."""
    found = connection.execute("select email_address, id from customer").fetchall()
    id_of: dict[str, int] = dict(found)
    ids = [id_of[email_of(number)] for number in range(COUNT)]
    keys = [key_of(number) for number in range(COUNT)]
    connection.execute(
        """
        insert into api_key (customer_id, name, prefix, hash, created_at)
        select k.customer_id, 'bench', left(k.key, 8), sha256(k.key::bytea), now()
        from unnest(%s::bigint[], %s::text[]) as k (customer_id, key)
        """,
        [ids, keys],
    )
    connection.execute(
        """
        insert into contract_price (customer_id, product_id, single_unit_cost)
        select c.id, p.product_id, round(p.single_unit_cost * 0.8, 2)
        from unnest(%s::bigint[]) with ordinality as c (id, number), lateral (
            select product_id, single_unit_cost from price
            where price_list = 'default' and product_id %% 181 = c.number %% 181 order by product_id limit %s
        ) as p
        """,
        [[ids[number] for number in WITH_CONTRACTS], CONTRACT_PRICES],
    )
    _announce(connection, "contracts")
    return ids


def _announce(connection: psycopg.Connection, topic: str) -> None:
    """Raise the topic's version, to which the triggers have noted the changes; otherwise the next change shows them."""
    connection.execute(
        """
        insert into change (topic, version) values (%s, 1)
        on conflict (topic) do update set version = change.version + 1
        """,
        [topic],
    )
