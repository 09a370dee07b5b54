"""Records the payments of a bank file, and stores the lines that cannot be placed."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from decimal import Decimal

from msgspec import Struct
from msgspec.structs import replace

from tradecounter.audit.record import audit
from tradecounter.billing.queries.ledger import (
    InvoiceBalance,
    InvoiceOwner,
    balances_of,
    invoices_numbered,
    lock_balances,
)
from tradecounter.billing.rules import draw
from tradecounter.customers.queries.accounts import accounts_of
from tradecounter.db.transaction import Transaction
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
    set_placed,
    set_why,
)
from tradecounter.payments.queries.payments import ToRecord, find_duplicates
from tradecounter.payments.queries.remittances import RemittanceAdvice, awaited_amounts, lock_awaited, mark_received
from tradecounter.payments.record_payment import LONGEST_REFERENCE, duplicate_of, invoices_in_words, record_payments
from tradecounter.payments.remittances import AWAITED_FOR, matching_remittance, telling_code
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


class _Placed(Struct, frozen=True):
    """A line, where its money goes, and the payment to record."""

    line: BankLine
    target: _Target
    new: ToRecord


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
    by_identity = await claim_lines(tx, file_id, received_lines, now)
    claimed = {line.number: by_identity[hashed(line), line.occurrence] for line in received_lines}
    waiting = [line for line in received_lines if claimed[line.number].state == "unplaced"]
    # A line of a payment that was reversed is placed only by someone who knows why.
    placeable = [line for line in waiting if not claimed[line.number].was_placed]
    placed, whys = await _find_payments(tx, placeable, targets, balances)
    recorded = list(zip(placed, await record_payments(tx, [each.new for each in placed], now), strict=True))
    reasons = [(claimed[each.line.number].id, payment.id, each.target.why) for each, payment in recorded]
    await set_placed(tx, reasons, file_id, now)
    received = [(each.target.remittance, payment.id) for each, payment in recorded]
    await mark_received(tx, {remittance: paid for remittance, paid in received if remittance is not None})
    await set_why(tx, [(claimed[number].id, why) for number, why in whys.items()], now)
    counts = {
        "lines": len(file.lines),
        "recorded": len(recorded),
        "payments_out": len(file.lines) - len(received_lines),
        "repeated": len(received_lines) - len(waiting),
    }
    all_counts = counts | {"unplaced": len(waiting) - len(recorded)}
    set_file_counts(tx, file_id, all_counts)
    audit(tx, "bank_file.import", f"bank-file/{file_id}", now, after={"name": name, **all_counts})
    accounts = await accounts_of(tx, {payment.customer_id for _, payment in recorded})
    paid = {each.line.number for each in placed}
    if dry_run:
        tx.set_rollback()
    return PaymentImport(
        id=None if dry_run else file_id,
        **counts,
        unplaced=[
            _unplaced_line(line, claimed[line.number], whys.get(line.number), dry_run=dry_run)
            for line in waiting
            if line.number not in paid
        ],
        payments=[
            _recorded_line(each.line, each.target.why, payment, accounts[payment.customer_id].name, dry_run=dry_run)
            for each, payment in recorded
        ],
        columns=file.columns,
    )


def _recorded_line(line: BankLine, why: str, payment: Payment, customer: str, *, dry_run: bool) -> RecordedLine:
    return RecordedLine(
        line=line.number,
        date=payment.received_on,
        amount=payment.amount,
        reference=line.reference,
        why=why,
        customer_id=payment.customer_id,
        customer=customer,
        payment_id=None if dry_run else payment.id,
        allocations=payment.allocations,
        on_account=payment.rest,
    )


def _unplaced_line(line: BankLine, claimed: ClaimedLine, why: str | None, *, dry_run: bool) -> UnplacedLine:
    return UnplacedLine(
        id=None if dry_run and claimed.is_new else claimed.id,
        line=line.number,
        date=line.day_written,
        amount=line.amount_written,
        reference=line.reference,
        why=claimed.why if why is None else why,
    )


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
) -> tuple[dict[int, _Target | str], dict[int, dict[int, InvoiceBalance]]]:
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
    balances = await balances_of(tx, payers, numbers)
    await lock_orders(tx, {invoice.order_id for of_customer in balances.values() for invoice in of_customer.values()})
    awaited = await lock_awaited(tx, {target.remittance for target in targets if target.remittance is not None})
    return {line: _if_awaited(target, awaited) for line, target in target_of_line.items()}, balances


def _if_awaited(target: _Target | str, awaited: Collection[int]) -> _Target | str:
    if isinstance(target, str) or target.remittance is None or target.remittance in awaited:
        return target
    problem = "but it has since arrived or been withdrawn"
    return f"customer {target.customer_id} announced this payment, {problem}"


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
    codes = {remittance.id: telling_code(remittance) for of_amount in awaited.values() for remittance in of_amount}
    used = set[int]()
    for line in lines:
        of_amount = [remittance for remittance in awaited.get(line.pounds, []) if remittance.id not in used]
        remittance = matching_remittance(line, payers.get(line.payer_text), of_amount, codes)
        if remittance is not None:
            advised[line.number] = remittance
            used.add(remittance.id)
    return advised


def _target(line: BankLine, evidence: _Evidence) -> _Target | str:
    if line.error is not None:
        return line.error
    owners = [evidence.owners[number] for number in dict.fromkeys(line.numbers) if number in evidence.owners]
    if owners:
        return _target_of_invoices(line, owners, evidence)
    remittance = evidence.advised.get(line.number)
    if remittance is not None:
        return _target_of_remittance(line, remittance, evidence)
    if line.payer_text in evidence.payers:
        return _Target(evidence.payers[line.payer_text], [], "its payer's earlier money was placed here by hand")
    announcers = sorted({remittance.customer_id for remittance in evidence.awaited.get(line.pounds, [])})
    hint = f"; customers who announced this amount: {', '.join(map(str, announcers))}" if announcers else ""
    return f"the reference has no number of an invoice{hint}"


def _target_of_remittance(line: BankLine, remittance: RemittanceAdvice, evidence: _Evidence) -> _Target | str:
    """Return where the money of a line goes that a remittance announces.

    Anybody may announce another customer's payment, so the line must not point to another customer.
    """
    customer_id, payer = remittance.customer_id, evidence.payers.get(line.payer_text)
    others = names_another(line.reference, customer_id, evidence.companies) if payer in {None, customer_id} else [payer]
    if others:
        of = " and ".join(map(str, others))
        return f"customer {customer_id} announced this payment, but it may be of customer {of}"
    why = f"the customer announced this payment of {invoices_in_words(remittance.invoices)}"
    return _Target(customer_id, remittance.invoices, why, remittance.id)


def _target_of_invoices(line: BankLine, owners: Sequence[InvoiceOwner], evidence: _Evidence) -> _Target | str:
    """Return where the money of a line goes whose reference names invoices."""
    customers = sorted({owner.customer_id for owner in owners})
    if len(customers) > 1:
        return f"the reference names invoices of customers {', '.join(map(str, customers))}"
    invoices = [owner.invoice for owner in owners]
    others = names_another(line.reference, customers[0], evidence.companies)
    if others:
        of = f"{invoices_in_words(invoices)} of customer {customers[0]}"
        return f"the reference names customer {' and '.join(map(str, others))} beside {of}"
    return _Target(customers[0], invoices, f"the reference names {invoices_in_words(invoices)}")


async def _find_payments(
    tx: Transaction,
    lines: Sequence[BankLine],
    targets: Mapping[int, _Target | str],
    balances: Mapping[int, dict[int, InvoiceBalance]],
) -> tuple[list[_Placed], dict[int, str]]:
    """Return the lines that are placed, and why the others are not, by the numbers of the lines.

    What a payment pays is taken off `balances`.
    """
    whys: dict[int, str] = {}
    wanted: list[_Placed] = []
    for line in lines:
        target = targets[line.number]
        if isinstance(target, str):
            whys[line.number] = target
        elif line.pounds is not None and line.received_on is not None:  # so is each line without an error
            new = ToRecord(
                customer_id=target.customer_id,
                amount=line.pounds,
                received_on=line.received_on,
                reference=line.reference[:LONGEST_REFERENCE].strip(),
            )
            wanted.append(_Placed(line, target, new))
    placed: list[_Placed] = []
    numbers: dict[tuple[object, ...], int] = {}
    duplicates = await find_duplicates(tx, [each.new for each in wanted])
    for each, (reference, earlier) in zip(wanted, duplicates, strict=True):
        number, target, new = each.line.number, each.target, each.new
        due = balances.get(target.customer_id, {})
        invoices = [due[named] for named in target.invoices if named in due] if target.invoices else due.values()
        equal = (new.customer_id, new.received_on, new.amount, reference)
        if earlier is not None:
            whys[number] = duplicate_of(f"payment {earlier} of customer {new.customer_id}")
        elif new.reference and equal in numbers:
            whys[number] = duplicate_of(f"line {numbers[equal]} of the file")
        elif target.invoices and not invoices:
            whys[number] = f"nothing is due of {invoices_in_words(target.invoices)}"
        else:
            shares = draw(invoices, (invoice.due for invoice in invoices), new.amount)
            placed.append(replace(each, new=replace(new, shares=shares)))
            numbers[equal] = number
            for invoice, share in shares:
                due[invoice.invoice] = replace(invoice, due=invoice.due - share)
                if share == invoice.due:
                    del due[invoice.invoice]
    return placed, whys
