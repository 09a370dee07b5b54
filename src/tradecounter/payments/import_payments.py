"""Records the payments of a bank file, stores the lines that cannot be placed, and rolls the import back."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct, field

from tradecounter.audit.record import audit
from tradecounter.billing.queries.ledger import (
    InvoiceOwner,
    invoices_numbered,
    lock_account,
    orders_with_debt,
)
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError
from tradecounter.kit.money import NOTHING
from tradecounter.orders.queries.orders import lock_orders
from tradecounter.payments.bank_file import BankFile
from tradecounter.payments.bank_line import BankLine
from tradecounter.payments.named_customers import names_another, words_of
from tradecounter.payments.queries.bank_files import (
    add_bank_file,
    set_file_counts,
)
from tradecounter.payments.queries.bank_lines import (
    Claimed,
    Company,
    claim_lines,
    companies_named,
    hashed,
    names_of,
    set_placed,
    set_why,
    usual_customers,
)
from tradecounter.payments.queries.remittances import RemittanceAdvice, awaited_amounts, set_come
from tradecounter.payments.record_payment import (
    LONGEST_REFERENCE,
    NewPayment,
    pay_locked,
    pay_locked_account,
)
from tradecounter.payments.remittances import AWAITED_FOR, matching
from tradecounter.payments.wire import Payment, PaymentImport, RecordedLine, UnplacedLine

_LONGEST_NAME = 200


class _Target(Struct, frozen=True):
    """Where a line's money goes: to invoices of a customer, or without these to the account."""

    customer_id: int
    invoices: Sequence[int]
    why: str
    remittance: int | None = None


class _Outcome(Struct):
    """What comes of the lines of a file."""

    recorded: list[tuple[BankLine, Claimed, Payment, str]] = field(default_factory=list)
    unplaced: list[tuple[BankLine, Claimed, str]] = field(default_factory=list)
    repeated: int = 0


async def import_payments(
    tx: Transaction, file: BankFile, now: datetime, *, name: str = "", dry_run: bool = False
) -> PaymentImport:
    """Record the payments of a file, and store what could not be placed; what is not due stays on the account.

    A line is placed by the invoice numbers in its reference, all of one customer, unless it names another one; else by
    what a customer has told of a payment, unless it may be another one's; else by what its payer usually writes, if
    someone placed such a line by hand before. Every line with money received is stored once, however often it is
    imported.

    A dry run tells what would happen, and lets the transaction be rolled back.
    """
    received = [line for line in file.lines if line.is_received]
    targets = await _targets(tx, received, now)
    actor = tx.actor
    by = actor.name if actor.acting_user is None else f"{actor.name} ({actor.acting_user})"
    file_id = await add_bank_file(tx, name[:_LONGEST_NAME], now, by)
    stored = await claim_lines(tx, file_id, received, now)
    outcome = _Outcome()
    for line in received:
        claimed = stored[hashed(line), line.occurrence]
        await _take(tx, line, claimed, targets[line.line], outcome, now)
    await set_placed(tx, [(c.id, payment.id, why) for _, c, payment, why in outcome.recorded], file_id, now)
    await set_why(tx, [(c.id, why) for _, c, why in outcome.unplaced if not c.was_placed])
    counts = {
        "lines": len(file.lines),
        "recorded": len(outcome.recorded),
        "payments_out": len(file.lines) - len(received),
        "repeated": outcome.repeated,
        "unplaced": len(outcome.unplaced),
    }
    set_file_counts(tx, file_id, counts)
    audit(tx, "bank_file.import", f"bank-file/{file_id}", now, after={"name": name, **counts})
    names = await names_of(tx, {payment.customer_id for _, _, payment, _ in outcome.recorded})
    if dry_run:
        tx.set_rollback()
    return _presented(None if dry_run else file_id, counts, file, outcome, names)


async def _targets(tx: Transaction, lines: Sequence[BankLine], now: datetime) -> dict[int, _Target | str]:
    """Return where each line's money goes, or why that is not known; locks the accounts and the orders."""
    readable = [line for line in lines if line.error is None]
    found = await invoices_numbered(tx, {number for line in readable for number in line.numbers})
    unnamed = [line for line in readable if found.keys().isdisjoint(line.numbers)]
    usual = await usual_customers(tx, {line.usual for line in unnamed if line.usual})
    awaited = await awaited_amounts(tx, {line.pounds for line in unnamed if line.pounds}, now - AWAITED_FOR)
    found |= await invoices_numbered(tx, {number for told in awaited for number in told.invoices})
    told = _told_of(unnamed, usual, awaited)
    named = [line for line in readable if line.line in told or not found.keys().isdisjoint(line.numbers)]
    words = set[str]().union(*(words_of(line.reference) for line in named))
    companies = await companies_named(tx, words, {owner.customer_id for owner in found.values()}) if named else []
    targets: dict[int, _Target | str] = {}
    for line in lines:
        if line.line in told:
            targets[line.line] = _told_target(line, told[line.line], usual.get(line.usual), companies)
        else:
            targets[line.line] = line.error or _target(line, found, usual, awaited, companies)
    chosen = [target for target in targets.values() if isinstance(target, _Target)]
    for customer_id in sorted({target.customer_id for target in chosen}):
        await lock_account(tx, customer_id)
    orders = [found[number].order_id for target in chosen for number in target.invoices]
    orders += await orders_with_debt(tx, {target.customer_id for target in chosen if not target.invoices})
    await lock_orders(tx, orders)
    return targets


def _told_of(
    lines: Sequence[BankLine], usual: Mapping[str, int], awaited: Sequence[RemittanceAdvice]
) -> dict[int, RemittanceAdvice]:
    """Return what customers have told of the payments of lines, by the numbers of the lines."""
    told: dict[int, RemittanceAdvice] = {}
    for line in lines:
        found = matching(line, usual.get(line.usual), awaited, {each.id for each in told.values()})
        if found is not None:
            told[line.line] = found
    return told


def _told_target(
    line: BankLine, told: RemittanceAdvice, usual: int | None, companies: Sequence[Company]
) -> _Target | str:
    """Return where the money of a line goes that a customer has told of; anybody may tell of another one's payment."""
    named = names_another(line.reference, told.customer_id, companies)
    others = named if usual in {None, told.customer_id} else [usual]
    if others:
        of = " and ".join(map(str, others))
        return f"customer {told.customer_id} has told of this payment, but it may be of customer {of}"
    why = f"the customer has told of this payment of {_invoices(told.invoices)}"
    return _Target(told.customer_id, told.invoices, why, told.id)


def _target(
    line: BankLine,
    found: Mapping[int, InvoiceOwner],
    usual: Mapping[str, int],
    awaited: Sequence[RemittanceAdvice],
    companies: Sequence[Company],
) -> _Target | str:
    named = [found[number] for number in dict.fromkeys(line.numbers) if number in found]
    customers = sorted({owner.customer_id for owner in named})
    if len(customers) > 1:
        return f"the reference names invoices of customers {', '.join(map(str, customers))}"
    if named:
        numbers = [owner.invoice for owner in named]
        if others := names_another(line.reference, customers[0], companies):
            of = f"{_invoices(numbers)} of customer {customers[0]}"
            return f"the reference names customer {' and '.join(map(str, others))} beside {of}"
        return _Target(customers[0], numbers, f"the reference names {_invoices(numbers)}")
    if line.usual in usual:
        return _Target(usual[line.usual], [], "its payer's earlier money was placed here by hand")
    tellers = sorted({told.customer_id for told in awaited if told.amount == line.pounds})
    hint = f"; customers who told of this amount: {', '.join(map(str, tellers))}" if tellers else ""
    return f"the reference has no number of an invoice{hint}"


def _invoices(numbers: Iterable[int]) -> str:
    named = list(map(str, numbers))
    return f"invoice {named[0]}" if len(named) == 1 else f"invoices {', '.join(named)}"


async def _take(
    tx: Transaction, line: BankLine, claimed: Claimed, target: _Target | str, outcome: _Outcome, now: datetime
) -> None:
    """Record a line, or count it to what is not recorded."""
    if claimed.state != "unplaced":
        outcome.repeated += 1
    elif claimed.was_placed:  # by a payment that was reversed; only someone who knows why may place it again
        outcome.unplaced.append((line, claimed, claimed.why))
    elif isinstance(target, str):
        outcome.unplaced.append((line, claimed, target))
    else:
        try:
            payment = await _pay(tx, line, target, now)
        except DomainError as error:
            outcome.unplaced.append((line, claimed, error.message))
            return
        outcome.recorded.append((line, claimed, payment, target.why))
        if target.remittance is not None:
            await set_come(tx, target.remittance, payment.id)


async def _pay(tx: Transaction, line: BankLine, target: _Target, now: datetime) -> Payment:
    if line.pounds is None:
        raise RuntimeError("a line without an error has an amount")
    reference = line.reference[:LONGEST_REFERENCE].strip()
    new = NewPayment(amount=line.pounds, received_on=line.received_on, reference=reference)
    if target.invoices:
        return await pay_locked(tx, target.customer_id, target.invoices, new, now)
    return await pay_locked_account(tx, target.customer_id, new, now)


def _presented(
    file_id: int | None, counts: Mapping[str, int], file: BankFile, outcome: _Outcome, names: Mapping[int, str]
) -> PaymentImport:
    is_dry = file_id is None
    return PaymentImport(
        id=file_id,
        lines=counts["lines"],
        recorded=counts["recorded"],
        payments_out=counts["payments_out"],
        repeated=counts["repeated"],
        unplaced=[
            UnplacedLine(
                id=None if is_dry and claimed.is_new else claimed.id,
                line=line.line,
                date=line.day,
                amount=line.amount,
                reference=line.reference,
                why=why,
            )
            for line, claimed, why in outcome.unplaced
        ],
        payments=[
            RecordedLine(
                line=line.line,
                date=payment.received_on,
                amount=payment.amount,
                reference=line.reference,
                why=why,
                customer_id=payment.customer_id,
                customer=names[payment.customer_id],
                payment_id=None if is_dry else payment.id,
                allocations=payment.allocations,
                on_account=payment.amount - sum((share.amount for share in payment.allocations), NOTHING),
            )
            for line, _, payment, why in outcome.recorded
        ],
        columns=file.columns,
    )
