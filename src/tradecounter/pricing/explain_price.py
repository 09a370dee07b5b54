"""Why a product costs a customer what it does: every price that could be its, in order of precedence (decisions)."""

from collections.abc import Iterable
from datetime import date
from decimal import Decimal

from msgspec import Struct, field
from msgspec.structs import replace

from tradecounter.kit.money import from_pence, to_pence
from tradecounter.pricing.price_book import DEFAULT_LIST
from tradecounter.pricing.queries.lookup import ContractPrice, ListPrice
from tradecounter.pricing.rules import FIVE, TEN, UnitCosts, discounted_pence

CONTRACT = "contract"
PRICE_LIST = "price_list"
DEFAULT = "default"

_TAKES_PRECEDENCE = {
    CONTRACT: "a contract price takes precedence",
    PRICE_LIST: "the customer's price list takes precedence",
}


class Candidate(Struct, frozen=True, kw_only=True):
    """A price that could be the customer's, before discount; `applies`: it is valid today."""

    rule: str
    price_list: str | None = None
    valid_from: date | None = None
    valid_until: date | None = None
    single_unit_cost: Decimal | None = None
    five_plus_unit_cost: Decimal | None = None
    ten_plus_unit_cost: Decimal | None = None
    applies: bool
    why: str


class ExplainedPrice(Struct, frozen=True, kw_only=True):
    """The net pounds of a unit, the rule and the break that they come from, and the discount taken off, in per cent.

    Without any price for the customer, `unit_cost` and `rule` are None: it cannot order the product.
    """

    sku: str
    customer_id: int
    quantity: int
    unit_cost: Decimal | None
    break_: int = field(name="break")
    rule: str | None
    discount: Decimal
    candidates: list[Candidate]


class Buyer(Struct, frozen=True):
    """What of a customer decides its prices; the discount is per cent."""

    customer_id: int
    price_list: str | None
    discount: Decimal


def explain_price(
    sku: str, buyer: Buyer, quantity: int, contracts: Iterable[ContractPrice], lists: Iterable[ListPrice], today: date
) -> ExplainedPrice:
    """Return what a unit costs a customer on a UK date, and why.

    `contracts` are the customer's contract prices of the product, the latest to begin first; `lists` its list prices.
    """
    candidates = [_agreed(contract, today) for contract in contracts]
    candidates += _listed(buyer.price_list, {price.price_list: price for price in lists})
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
        candidates=[_beside(candidate, winner) for candidate in candidates],
    )


def _agreed(contract: ContractPrice, today: date) -> Candidate:
    begun = contract.valid_from is None or contract.valid_from <= today
    ended = contract.valid_until is not None and contract.valid_until < today
    if not begun:
        why = f"it is valid from {contract.valid_from}"
    elif ended:
        why = f"it was valid until {contract.valid_until}"
    else:
        why = "a contract price that is valid today"
    return Candidate(
        rule=CONTRACT,
        valid_from=contract.valid_from,
        valid_until=contract.valid_until,
        single_unit_cost=contract.single_unit_cost,
        five_plus_unit_cost=contract.five_plus_unit_cost,
        ten_plus_unit_cost=contract.ten_plus_unit_cost,
        applies=begun and not ended,
        why=why,
    )


def _listed(own_list: str | None, prices: dict[str, ListPrice]) -> list[Candidate]:
    has_own = own_list is not None and own_list != DEFAULT_LIST
    default = _on_list(
        DEFAULT,
        DEFAULT_LIST,
        prices,
        "the customer's price list has no price for it" if has_own else "the customer has no price list of its own",
    )
    own = _on_list(PRICE_LIST, own_list, prices, "the customer's price list") if own_list and has_own else None
    return [default] if own is None else [own, default]


def _on_list(rule: str, key: str, prices: dict[str, ListPrice], why: str) -> Candidate:
    price = prices.get(key)
    if price is None:
        return Candidate(rule=rule, price_list=key, applies=False, why="the list has no price for it")
    return Candidate(
        rule=rule,
        price_list=key,
        single_unit_cost=price.single_unit_cost,
        five_plus_unit_cost=price.five_plus_unit_cost,
        ten_plus_unit_cost=price.ten_plus_unit_cost,
        applies=True,
        why=why,
    )


def _beside(candidate: Candidate, winner: Candidate | None) -> Candidate:
    """Return a candidate that says why it is not the price although it applies."""
    if not candidate.applies or winner is None or candidate is winner:
        return candidate
    if candidate.rule == winner.rule:
        return replace(candidate, why="a contract price that began later takes precedence")
    return replace(candidate, why=_TAKES_PRECEDENCE[winner.rule])


def _unit_cost(price: Candidate, quantity: int, discount: Decimal) -> Decimal:
    if price.single_unit_cost is None:
        raise ValueError("only prices that apply have a unit cost")
    five_plus = price.single_unit_cost if price.five_plus_unit_cost is None else price.five_plus_unit_cost
    ten_plus = five_plus if price.ten_plus_unit_cost is None else price.ten_plus_unit_cost
    costs = UnitCosts(*(to_pence(cost) for cost in (price.single_unit_cost, five_plus, ten_plus)))
    return from_pence(discounted_pence(costs.at(quantity), int(discount * 100)))
