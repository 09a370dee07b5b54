"""Records the payments of a bank file, and stores the lines that cannot be placed."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal

from msgspec import Struct, field
from msgspec.structs import replace

from tradecounter.audit.record import audit
from tradecounter.billing.queries.ledger import (
    InvoiceOwner,
    OpenInvoice,
    balances_of,
    invoices_numbered,
    lock_balances,
    orders_with_debt,
)
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError
from tradecounter.kit.money import NOTHING
from tradecounter.kit.text import LONGEST_NAME
from tradecounter.orders.queries.orders import lock_orders
from tradecounter.payments.bank_file import BankFile
from tradecounter.payments.bank_line import BankLine
from tradecounter.payments.named_customers import Companies, names_another, words_of
from tradecounter.payments.queries.bank_files import add_bank_file, set_file_counts
from tradecounter.payments.queries.bank_lines import (
    ClaimedLine,
    claim_lines,
    companies_named,
    customers_of_payers,
    hashed,
    names_of,
    set_placed,
    set_why,
)
from tradecounter.payments.queries.remittances import (
    RemittanceAdvice,
    awaited_amounts,
    lock_awaited,
    mark_received,
)
from tradecounter.payments.record_payment import (
    LONGEST_REFERENCE,
    NewPayment,
    pay_locked_invoices,
    record_locked,
)
from tradecounter.payments.remittances import AWAITED_FOR, matching_remittance
from tradecounter.payments.wire import Payment, PaymentImport, RecordedLine, UnplacedLine


class _Target(Struct, frozen=True):
    """Where a line's money goes: to invoices of a customer, or without invoices to the customer's account.

    Attributes:
        why: how this was found out, in words.
        remittance: the id of the remittance that the money pays, if a customer has announced it.
    """

    customer_id: int
    invoices: Sequence[int]
    why: str
    remittance: int | None = None


class _Unknown(Struct, frozen=True):
    """It is unknown where a line's money goes; `why`, in words."""

    why: str


class _Paid(Struct, frozen=True):
    """A line that is recorded as a payment."""

    line: BankLine
    claimed: ClaimedLine
    payment: Payment
    target: _Target


class _Left(Struct, frozen=True):
    """A line that is left unplaced."""

    line: BankLine
    claimed: ClaimedLine
    why: str


class _Recording(Struct):
    """What becomes of the lines of a file.

    Attributes:
        balances: what is due of the invoices that lines may pay, by customer and by number, the oldest first.
        payments_out: how many have no money received.
        repeated: how many an earlier file had.
    """

    balances: dict[int, dict[int, OpenInvoice]]
    payments_out: int
    recorded: list[_Paid] = field(default_factory=list)
    unplaced: list[_Left] = field(default_factory=list)
    repeated: int = 0


async def import_payments(
    tx: Transaction, file: BankFile, now: datetime, *, name: str = "", dry_run: bool = False
) -> PaymentImport:
    """Record the payments of a file, and store the lines that cannot be placed.

    A line is placed by the first of these that applies:

    1. The reference has invoice numbers, all of one customer, and names no other customer.
    2. A customer has announced the payment, and the line points to no other customer.
    3. Somebody has placed an earlier line of the same payer by hand.

    Money that pays no invoice stays on the account. A line with money received is stored once, however often it is
    imported. A dry run reports what would happen, and rolls the transaction back.
    """
    received_lines = [line for line in file.lines if line.is_received]
    targets, balances = await _lock_targets(tx, received_lines, now)
    file_id = await add_bank_file(tx, name[:LONGEST_NAME], now, tx.actor.full_name)
    claimed_lines = await claim_lines(tx, file_id, received_lines, now)
    recording = _Recording(balances, len(file.lines) - len(received_lines))
    for line in received_lines:
        await _record_line(tx, line, claimed_lines[hashed(line), line.occurrence], targets[line.number], recording, now)
    placed = [(recorded.claimed.id, recorded.payment.id, recorded.target.why) for recorded in recording.recorded]
    await set_placed(tx, placed, file_id, now)
    await mark_received(
        tx,
        {
            recorded.target.remittance: recorded.payment.id
            for recorded in recording.recorded
            if recorded.target.remittance is not None
        },
    )
    reasons = [(left.claimed.id, left.why) for left in recording.unplaced if not left.claimed.was_placed]
    await set_why(tx, reasons, now)
    counts = {
        "lines": len(file.lines),
        "recorded": len(recording.recorded),
        "payments_out": recording.payments_out,
        "repeated": recording.repeated,
        "unplaced": len(recording.unplaced),
    }
    set_file_counts(tx, file_id, counts)
    audit(tx, "bank_file.import", f"bank-file/{file_id}", now, after={"name": name, **counts})
    names = await names_of(tx, {recorded.payment.customer_id for recorded in recording.recorded})
    if dry_run:
        tx.set_rollback()
    return _present(None if dry_run else file_id, file, recording, names)


class _Evidence(Struct, frozen=True, kw_only=True):
    """What shows where the money of lines goes.

    Attributes:
        owners: the owners of the invoices that references name, by invoice number.
        payers: the customers of payers whose earlier lines were placed by hand, by the text that names the payer.
        awaited: the remittances that have not come and whose amount a line has, by this amount.
        advised: the remittance that a line pays, by the number of the line.
        companies: the customers whose companies references may name.
    """

    owners: Mapping[int, InvoiceOwner]
    payers: Mapping[str, int]
    awaited: Mapping[Decimal | None, Sequence[RemittanceAdvice]]
    advised: Mapping[int, RemittanceAdvice]
    companies: Companies


async def _lock_targets(
    tx: Transaction, lines: Sequence[BankLine], now: datetime
) -> tuple[dict[int, _Target | _Unknown], dict[int, dict[int, OpenInvoice]]]:
    """Return where each line's money goes, or why this is unknown, and what is due there.

    Locks the accounts, orders and remittances of it.

    The evidence says what to lock, so it is read before. Meanwhile another import may record the payment of a
    remittance, or its customer may take it back: then the line waits for a person.
    """
    evidence = await _read_evidence(tx, [line for line in lines if line.error is None], now)
    target_of_line = {line.number: _target(line, evidence) for line in lines}
    targets = [target for target in target_of_line.values() if isinstance(target, _Target)]
    await lock_balances(tx, {target.customer_id for target in targets})
    numbers = {number for target in targets for number in target.invoices}
    payers = {target.customer_id for target in targets if not target.invoices}
    await lock_orders(tx, [evidence.owners[number].order_id for number in numbers] + await orders_with_debt(tx, payers))
    balances = await balances_of(tx, payers, numbers)
    awaited = await lock_awaited(tx, {target.remittance for target in targets if target.remittance is not None})
    return {line: _if_awaited(target, awaited) for line, target in target_of_line.items()}, balances


def _if_awaited(target: _Target | _Unknown, awaited: Collection[int]) -> _Target | _Unknown:
    if isinstance(target, _Unknown) or target.remittance is None or target.remittance in awaited:
        return target
    problem = "but it has since arrived or been withdrawn"
    return _Unknown(f"customer {target.customer_id} announced this payment, {problem}")


async def _read_evidence(tx: Transaction, lines: Sequence[BankLine], now: datetime) -> _Evidence:
    """Read everything that shows where the money of readable lines goes."""
    owners = await invoices_numbered(tx, {number for line in lines for number in line.numbers})
    without_invoice = [line for line in lines if owners.keys().isdisjoint(line.numbers)]
    payers = await customers_of_payers(tx, {line.payer_text for line in without_invoice if line.payer_text})
    amounts = {line.pounds for line in without_invoice if line.pounds}
    remittances = await awaited_amounts(tx, amounts, now - AWAITED_FOR)
    awaited: dict[Decimal | None, list[RemittanceAdvice]] = {}
    for remittance in remittances:
        awaited.setdefault(remittance.amount, []).append(remittance)
    owners |= await invoices_numbered(tx, {number for remittance in remittances for number in remittance.invoices})
    advised = _advised_lines(without_invoice, payers, awaited)
    attributed = [line for line in lines if line.number in advised or not owners.keys().isdisjoint(line.numbers)]
    words = set[str]().union(*(words_of(line.reference) for line in attributed))
    owner_ids = {owner.customer_id for owner in owners.values()}
    companies = await companies_named(tx, words, owner_ids) if attributed else []
    return _Evidence(owners=owners, payers=payers, awaited=awaited, advised=advised, companies=Companies.of(companies))


def _advised_lines(
    lines: Sequence[BankLine], payers: Mapping[str, int], awaited: Mapping[Decimal | None, Sequence[RemittanceAdvice]]
) -> dict[int, RemittanceAdvice]:
    """Return the remittances that lines pay, by the numbers of the lines; each remittance has one line."""
    advised: dict[int, RemittanceAdvice] = {}
    used = set[int]()
    for line in lines:
        of_amount = [remittance for remittance in awaited.get(line.pounds, []) if remittance.id not in used]
        remittance = matching_remittance(line, payers.get(line.payer_text), of_amount)
        if remittance is not None:
            advised[line.number] = remittance
            used.add(remittance.id)
    return advised


def _target(line: BankLine, evidence: _Evidence) -> _Target | _Unknown:
    if line.error is not None:
        return _Unknown(line.error)
    remittance = evidence.advised.get(line.number)
    if remittance is not None:
        return _target_of_remittance(line, remittance, evidence)
    owners = [evidence.owners[number] for number in dict.fromkeys(line.numbers) if number in evidence.owners]
    if owners:
        return _target_of_invoices(line, owners, evidence)
    if line.payer_text in evidence.payers:
        return _Target(evidence.payers[line.payer_text], [], "its payer's earlier money was placed here by hand")
    announcers = sorted({remittance.customer_id for remittance in evidence.awaited.get(line.pounds, [])})
    hint = f"; customers who announced this amount: {', '.join(map(str, announcers))}" if announcers else ""
    return _Unknown(f"the reference has no number of an invoice{hint}")


def _target_of_remittance(line: BankLine, remittance: RemittanceAdvice, evidence: _Evidence) -> _Target | _Unknown:
    """Return where the money of a line goes that a remittance announces.

    Anybody may announce another customer's payment, so the line must not point to another customer.
    """
    customer_id, payer = remittance.customer_id, evidence.payers.get(line.payer_text)
    others = names_another(line.reference, customer_id, evidence.companies) if payer in {None, customer_id} else [payer]
    if others:
        of = " and ".join(map(str, others))
        return _Unknown(f"customer {customer_id} announced this payment, but it may be of customer {of}")
    why = f"the customer announced this payment of {_invoices(remittance.invoices)}"
    return _Target(customer_id, remittance.invoices, why, remittance.id)


def _target_of_invoices(line: BankLine, owners: Sequence[InvoiceOwner], evidence: _Evidence) -> _Target | _Unknown:
    """Return where the money of a line goes whose reference names invoices."""
    customers = sorted({owner.customer_id for owner in owners})
    if len(customers) > 1:
        return _Unknown(f"the reference names invoices of customers {', '.join(map(str, customers))}")
    invoices = [owner.invoice for owner in owners]
    others = names_another(line.reference, customers[0], evidence.companies)
    if others:
        of = f"{_invoices(invoices)} of customer {customers[0]}"
        return _Unknown(f"the reference names customer {' and '.join(map(str, others))} beside {of}")
    return _Target(customers[0], invoices, f"the reference names {_invoices(invoices)}")


def _invoices(numbers: Iterable[int]) -> str:
    texts = list(map(str, numbers))
    return f"invoice {texts[0]}" if len(texts) == 1 else f"invoices {', '.join(texts)}"


async def _record_line(
    tx: Transaction,
    line: BankLine,
    claimed: ClaimedLine,
    target: _Target | _Unknown,
    recording: _Recording,
    now: datetime,
) -> None:
    """Record the payment of a line, or add the line to what is not recorded."""
    if claimed.state != "unplaced":
        recording.repeated += 1
    elif claimed.was_placed:  # by a payment that was reversed; only someone who knows why may place it again
        recording.unplaced.append(_Left(line, claimed, claimed.why))
    elif isinstance(target, _Unknown):
        recording.unplaced.append(_Left(line, claimed, target.why))
    else:
        try:
            payment = await _pay(tx, line, target, recording.balances.get(target.customer_id, {}), now)
        except DomainError as error:
            recording.unplaced.append(_Left(line, claimed, error.message))
            return
        recording.recorded.append(_Paid(line, claimed, payment, target))


async def _pay(
    tx: Transaction, line: BankLine, target: _Target, balances: dict[int, OpenInvoice], now: datetime
) -> Payment:
    """Record the payment of a line, and lower what is due in `balances`, those of the customer."""
    if line.pounds is None:
        raise RuntimeError("a line without an error has an amount")
    new = NewPayment(amount=line.pounds, received_on=line.received_on, reference=line.reference[:LONGEST_REFERENCE])
    if target.invoices:
        named = [balances[number] for number in target.invoices]
        payment = await pay_locked_invoices(tx, target.customer_id, new, named, now)
    else:
        due = [invoice for invoice in balances.values() if invoice.due > NOTHING]
        payment = await record_locked(tx, target.customer_id, new, due, now)
    for share in payment.allocations:
        invoice = balances[share.invoice]
        balances[share.invoice] = replace(invoice, due=invoice.due - share.amount)
    return payment


def _present(file_id: int | None, file: BankFile, recording: _Recording, names: Mapping[int, str]) -> PaymentImport:
    is_dry = file_id is None
    return PaymentImport(
        id=file_id,
        lines=len(file.lines),
        recorded=len(recording.recorded),
        payments_out=recording.payments_out,
        repeated=recording.repeated,
        unplaced=[
            UnplacedLine(
                id=None if is_dry and unplaced.claimed.is_new else unplaced.claimed.id,
                line=unplaced.line.number,
                date=unplaced.line.day_written,
                amount=unplaced.line.amount_written,
                reference=unplaced.line.reference,
                why=unplaced.why,
            )
            for unplaced in recording.unplaced
        ],
        payments=[
            RecordedLine(
                line=recorded.line.number,
                date=recorded.payment.received_on,
                amount=recorded.payment.amount,
                reference=recorded.line.reference,
                why=recorded.target.why,
                customer_id=recorded.payment.customer_id,
                customer=names[recorded.payment.customer_id],
                payment_id=None if is_dry else recorded.payment.id,
                allocations=recorded.payment.allocations,
                on_account=recorded.payment.rest,
            )
            for recorded in recording.recorded
        ],
        columns=file.columns,
    )
