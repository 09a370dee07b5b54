"""A customer's price of a product, explained by all candidates in order of precedence (decisions)."""

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Annotated

import numpy as np
from msgspec import Meta, Struct, field
from msgspec.structs import replace

from tradecounter.bulk.price_figures import BREAKS
from tradecounter.kit.money import from_pence, to_pence
from tradecounter.kit.wire import Amount, made_from
from tradecounter.prices.price_book import DEFAULT_LIST
from tradecounter.prices.queries.prices_of_products import ContractPrice, ListPrice
from tradecounter.prices.rules import FIVE, NO_BREAK, TEN, UnitCosts, discounted_pence, fill_breaks

CONTRACT = "contract"
PRICE_LIST = "price_list"
DEFAULT = "default"

_TAKES_PRECEDENCE = {
    CONTRACT: "a contract price takes precedence",
    PRICE_LIST: "the customer's price list takes precedence",
}


class PriceCandidate(Struct, frozen=True, kw_only=True):
    """A price that was considered, before discount."""

    rule: Annotated[str, Meta(description="`contract`, `price_list` or `default`.")]
    price_list: str | None
    valid_from: date | None
    valid_until: date | None
    single_unit_cost: Amount | None
    five_plus_unit_cost: Amount | None
    ten_plus_unit_cost: Amount | None
    applies: Annotated[bool, Meta(description="Whether it is valid today for this customer and product.")]
    why: Annotated[str, Meta(description="Why it is the price, or is not.")]


class ExplainedPrice(Struct, frozen=True, kw_only=True):
    """A customer's price of a product, and why."""

    sku: str
    customer_id: int
    quantity: int
    unit_cost: Annotated[Decimal | None, Meta(description="Null: the customer cannot order it.")]
    break_: Annotated[int, Meta(description="The tier of the quantity: 1, 5 or 10.")] = field(name="break")
    rule: Annotated[str | None, Meta(description="The rule that won.")]
    discount: Annotated[Decimal, Meta(description="In per cent; contract prices have none.")]
    candidates: Annotated[list[PriceCandidate], Meta(description="In order of precedence.")]


class Buyer(Struct, frozen=True):
    """The settings that decide a customer's prices; the discount is in per cent."""

    customer_id: int
    price_list: str | None
    discount: Decimal


def explain_price(
    sku: str, buyer: Buyer, quantity: int, contracts: Iterable[ContractPrice], lists: Iterable[ListPrice], today: date
) -> ExplainedPrice:
    """Explain a customer's unit cost on a UK date.

    `contracts` are the customer's contract prices of the product, latest first day first.
    """
    candidates = [_contract_candidate(contract, today) for contract in contracts]
    candidates += _list_candidates(buyer.price_list, {price.price_list: price for price in lists})
    winner = next((candidate for candidate in candidates if candidate.applies), None)
    discount = buyer.discount if winner is not None and winner.rule != CONTRACT else Decimal("0.00")
    return ExplainedPrice(
        sku=sku,
        customer_id=buyer.customer_id,
        quantity=quantity,
        unit_cost=None if winner is None else _unit_cost(winner, quantity, discount),
        break_=TEN if quantity >= TEN else FIVE if quantity >= FIVE else 1,
        rule=None if winner is None else winner.rule,
        discount=discount,
        candidates=[_compared(candidate, winner) for candidate in candidates],
    )


def _contract_candidate(contract: ContractPrice, today: date) -> PriceCandidate:
    started = contract.valid_from is None or contract.valid_from <= today
    ended = contract.valid_until is not None and contract.valid_until < today
    if not started:
        why = f"valid from {contract.valid_from}"
    elif ended:
        why = f"valid until {contract.valid_until}"
    else:
        why = "a contract price that is valid today"
    applies = started and not ended
    return made_from(contract, PriceCandidate, rule=CONTRACT, price_list=None, applies=applies, why=why)


def _list_candidates(own_list: str | None, prices: dict[str, ListPrice]) -> list[PriceCandidate]:
    if own_list is None or own_list == DEFAULT_LIST:
        return [_list_candidate(DEFAULT, DEFAULT_LIST, prices, "the customer has no price list")]
    return [
        _list_candidate(PRICE_LIST, own_list, prices, "the customer's price list"),
        _list_candidate(DEFAULT, DEFAULT_LIST, prices, "the customer's price list has no price for this product"),
    ]


def _list_candidate(rule: str, key: str, prices: dict[str, ListPrice], why: str) -> PriceCandidate:
    price = prices.get(key)
    return PriceCandidate(
        rule=rule,
        price_list=key,
        valid_from=None,
        valid_until=None,
        **{name: getattr(price, name, None) for name in BREAKS},
        applies=price is not None,
        why="the list has no price for this product" if price is None else why,
    )


def _compared(candidate: PriceCandidate, winner: PriceCandidate | None) -> PriceCandidate:
    """Return the candidate, with the reason if it applies but another candidate is the price."""
    if not candidate.applies or winner is None or candidate is winner:
        return candidate
    if candidate.rule == winner.rule:
        return replace(candidate, why="a contract price with a later first day takes precedence")
    return replace(candidate, why=_TAKES_PRECEDENCE[winner.rule])


def _unit_cost(price: PriceCandidate, quantity: int, discount: Decimal) -> Decimal:
    breaks = (price.single_unit_cost, price.five_plus_unit_cost, price.ten_plus_unit_cost)
    pence = [NO_BREAK if cost is None else to_pence(cost) for cost in breaks]
    costs = UnitCosts(*fill_breaks(np.array([pence], dtype=np.int32))[0].tolist())
    return from_pence(discounted_pence(costs.at(quantity), int(discount * 100)))
