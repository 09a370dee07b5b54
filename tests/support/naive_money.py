"""A naive twin of invoices, payments, credit notes and returns: a ledger of lists and sums over the naive orders."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal

from support.naive_orders import NaiveLine, NaiveOrder, NaiveOrders, Units, pence, reject_if, share, uk_day

NOTHING = Decimal(0)
Costs = tuple[Decimal, Decimal, Decimal]


@dataclass
class NaiveBilledLine:
    """A line of an invoice, and what is credited of it by units; `line_id` is None for shipping."""

    line_id: int | None
    units: int
    net: Decimal
    vat: Decimal
    credited_units: int = 0
    credited_net: Decimal = NOTHING
    credited_vat: Decimal = NOTHING


@dataclass
class NaiveInvoice:
    """An invoice; `paid` is by payment, the latest last."""

    number: int
    code: str
    due_on: date
    lines: list[NaiveBilledLine]
    paid: dict[int, Decimal] = field(default_factory=dict)
    credited: Decimal = NOTHING
    left_net: Decimal = NOTHING
    left_vat: Decimal = NOTHING

    @property
    def gross(self) -> Decimal:
        return sum((line.net + line.vat for line in self.lines), NOTHING)

    @property
    def due(self) -> Decimal:
        return self.gross - self.credited - sum(self.paid.values(), NOTHING)

    def credited_units(self, line: NaiveBilledLine) -> int:
        """The units of a line that are credited: all of an invoice that is, perhaps by amount."""
        return line.units if self.gross and self.credited == self.gross else line.credited_units


@dataclass
class NaivePayment:
    """A payment or a refund; `free` is on the account, `refunded` is what refunds took of it, by refund."""

    id: int
    customer: int
    amount: Decimal
    received_on: date
    reference: str
    is_refund: bool
    free: Decimal = NOTHING
    is_reversed: bool = False
    refunded: dict[int, Decimal] = field(default_factory=dict)


@dataclass
class NaiveReturnedLine:
    """Units of a line that come back."""

    quantity: int
    received: int = 0
    credited: int = 0


@dataclass
class NaiveReturn:
    """A return, by line id."""

    code: str
    lines: dict[int, NaiveReturnedLine]
    state: str = "open"


@dataclass
class NaiveImport:
    """An import of a product's prices."""

    sku: str
    before: Costs
    after: Costs
    at: datetime
    is_rolled_back: bool = False


Entry = tuple[str, int, Decimal]  # of a statement: kind, number, debit less credit


class NaiveBooks(NaiveOrders):
    """The books of stock, orders and money."""

    def __init__(self, *given: object) -> None:
        super().__init__(*given)  # type: ignore[arg-type]
        self.invoices: dict[int, NaiveInvoice] = {}
        self.payments: dict[int, NaivePayment] = {}
        self.returns: dict[str, NaiveReturn] = {}
        self.entries: dict[int, list[Entry]] = {customer: [] for customer in self.customers}
        self.imports: dict[int, NaiveImport] = {}
        self.bank_lines: dict[tuple[date, Decimal, str, int], int] = {}  # the payment of each line that was recorded

    def order_of(self, invoice: int) -> NaiveOrder:
        return self.orders[self.invoices[invoice].code]

    def payments_of(self, customer: int) -> list[NaivePayment]:
        """A customer's payments, the oldest first."""
        found = [payment for payment in self.payments.values() if payment.customer == customer]
        return sorted(found, key=lambda payment: (payment.received_on, payment.id))

    def invoices_of(self, customer: int) -> list[NaiveInvoice]:
        """A customer's invoices, the oldest due first."""
        found = [i for i in self.invoices.values() if self.order_of(i.number).customer == customer]
        return sorted(found, key=lambda invoice: (invoice.due_on, invoice.number))

    def unallocated(self, customer: int) -> Decimal:
        return sum((payment.free for payment in self.payments_of(customer)), NOTHING)

    def balance(self, customer: int) -> Decimal:
        return sum((amount for _, _, amount in self.entries[customer]), NOTHING)

    def ageing(self, customer: int, today: date) -> list[Decimal]:
        """What is due of invoices: not due, 1 to 30 days late, to 60, to 90, later."""
        sums = [NOTHING] * 5
        for invoice in self.invoices_of(customer):
            late = (today - invoice.due_on).days
            sums[sum(late > most for most in (0, 30, 60, 90))] += invoice.due
        return sums

    def account(self, customer: int, today: date) -> tuple[object, ...]:
        """All that a statement shows."""
        return self.entries[customer], self.ageing(customer, today), self.unallocated(customer)

    # Invoices

    def invoice(self, code: str, number: int, now: datetime, *, part: bool) -> bool:
        """Invoice what is dispatched; whether there was something to invoice."""
        order = self.orders[code]
        reject_if(s409=not order.is_confirmed or (order.left > 0 and not part))
        lines = [billed for line in order.lines if (billed := self._to_bill(order, line)).units]
        if not lines and (order.invoices or order.left):
            reject_if(s409=not order.invoices)
            return False
        if not order.invoices:
            lines.append(NaiveBilledLine(None, 1, order.carriage, share(order.rate, order.carriage)))
        issued = NaiveInvoice(number, code, uk_day(now) + timedelta(days=order.term_days), lines)
        issued.left_net = sum((line.net for line in lines), NOTHING)
        issued.left_vat = sum((line.vat for line in lines), NOTHING)
        for billed in lines:
            if billed.line_id is not None and (line := order.line(billed.line_id)) is not None:
                line.invoiced += billed.units
        self.invoices[number] = issued
        order.invoices.append(number)
        self.entries[order.customer].append(("invoice", number, issued.gross))
        for payment in self.payments_of(order.customer):
            self._give(payment, issued)
        return True

    def _to_bill(self, order: NaiveOrder, line: NaiveLine) -> NaiveBilledLine:
        """What is dispatched, has not come back before it was invoiced, and is not invoiced."""
        billed = [b for number in order.invoices for b in self.invoices[number].lines if b.line_id == line.id]
        units = line.dispatched - line.unbilled
        net = line.cost * units
        before_net, before_vat = (sum((getattr(b, name) for b in billed), NOTHING) for name in ("net", "vat"))
        return NaiveBilledLine(line.id, units - line.invoiced, net - before_net, share(order.rate, net) - before_vat)

    # Payments

    def _give(self, payment: NaivePayment, invoice: NaiveInvoice) -> None:
        given = min(payment.free, invoice.due)
        if given > 0:
            payment.free -= given
            invoice.paid[payment.id] = invoice.paid.pop(payment.id, NOTHING) + given
            self.order_of(invoice.number).paid += given

    def _take_back(self, payment: NaivePayment, invoice: NaiveInvoice, amount: Decimal) -> None:
        payment.free += amount
        invoice.paid[payment.id] = invoice.paid.pop(payment.id) - amount
        self.order_of(invoice.number).paid -= amount

    def is_duplicate(self, payment: NaivePayment) -> bool:
        return payment.reference != "" and any(
            not p.is_reversed
            and (p.reference, p.amount, p.received_on, p.is_refund)
            == (payment.reference, payment.amount, payment.received_on, payment.is_refund)
            for p in self.payments_of(payment.customer)
        )

    def pay(self, payment: NaivePayment, invoice: int | None = None, *, force: bool = False) -> None:
        """Record a payment of an invoice, or of the account; or a refund."""
        reject_if(
            s409=not force and self.is_duplicate(payment),
            s400=payment.is_refund and (invoice is not None or payment.amount > self.unallocated(payment.customer)),
        )
        self.entries[payment.customer].append(
            ("refund", payment.id, payment.amount) if payment.is_refund else ("payment", payment.id, -payment.amount)
        )
        if payment.is_refund:
            left = payment.amount
            for source in self.payments_of(payment.customer):
                taken = min(source.free, left)
                source.free -= taken
                left -= taken
                source.refunded[payment.id] = taken
            self.payments[payment.id] = payment
            return
        self.payments[payment.id] = payment
        payment.free = payment.amount
        for target in self.invoices_of(payment.customer) if invoice is None else [self.invoices[invoice]]:
            self._give(payment, target)

    def reverse(self, payment_id: int) -> None:
        payment = self.payments[payment_id]
        reject_if(s409=payment.is_reversed or any(payment.refunded.values()))
        payment.is_reversed = True
        sign = -1 if payment.is_refund else 1
        self.entries[payment.customer].append(("reversal", payment.id, sign * payment.amount))
        for source in self.payments_of(payment.customer):
            source.free += source.refunded.pop(payment_id, NOTHING)
        for invoice in self.invoices_of(payment.customer):
            if payment_id in invoice.paid:
                self._take_back(payment, invoice, invoice.paid[payment_id])
        payment.free = NOTHING

    # Credit notes

    def credit(
        self,
        number: int,
        note: int,
        *,
        lines: Sequence[tuple[int | None, int]] = (),
        net: Decimal | None = None,
        returned: str = "",
    ) -> list[str]:
        """Credit units of lines, or an amount without VAT; returns "close by credit" for each return that it closes."""
        invoice, last = self.invoices[number], None
        if net is not None:
            reject_if(s400=not 0 < net <= invoice.left_net)
            vat = share(self.order_of(number).rate, net)
        else:
            net = vat = NOTHING
            for line_id, units in lines:
                line = next((line for line in invoice.lines if line.line_id == line_id), None)
                reject_if(s400=line is None or not 1 <= units <= line.units - line.credited_units)
                assert line is not None
                last, credited = line, self._credit_line(line, units)
                net, vat = net + credited[0], vat + credited[1]
            reject_if(s400=net > invoice.left_net)
        fitting = invoice.left_vat if net == invoice.left_net else min(vat, invoice.left_vat)
        if last is not None:
            last.credited_vat += fitting - vat
        vat = fitting
        gross = net + vat
        reject_if(s400=gross == 0)
        invoice.left_net, invoice.left_vat = invoice.left_net - net, invoice.left_vat - vat
        for payment_id in reversed(list(invoice.paid)):
            too_much = gross - invoice.due
            if too_much > 0:
                self._take_back(self.payments[payment_id], invoice, min(too_much, invoice.paid[payment_id]))
        invoice.credited += gross
        order = self.order_of(number)
        order.credited += gross
        self.entries[order.customer].append(("credit_note", note, -gross))
        return ["close by credit"] * self._settle(order.code, returned)

    @staticmethod
    def _credit_line(line: NaiveBilledLine, units: int) -> tuple[Decimal, Decimal]:
        """Credit units so that the shares of all units make up the line."""
        line.credited_units += units
        shares = []
        for name in ("net", "vat"):
            whole, before = getattr(line, name), getattr(line, f"credited_{name}")
            so_far = pence(whole * line.credited_units / line.units)
            setattr(line, f"credited_{name}", so_far)
            shares.append(so_far - before)
        return shares[0], shares[1]

    # Returns

    def claimed(self, code: str, line_id: int) -> int:
        """The units of a line that came back, or that open returns expect."""
        found = [(r.state, r.lines[line_id]) for r in self.returns.values() if r.code == code and line_id in r.lines]
        return sum(line.received if state == "closed" else line.quantity for state, line in found)

    def open_return(self, code: str, number: str, items: Units) -> None:
        order = self.orders[code]
        reject_if(s409=not order.is_confirmed or order.dispatched == 0)
        for line_id, units in items:
            line = order.line(line_id)
            reject_if(s400=line is None or not 1 <= units <= line.dispatched - self.claimed(code, line_id))
        self.returns[number] = NaiveReturn(code, {line_id: NaiveReturnedLine(units) for line_id, units in items})

    def receive(self, number: str, items: Sequence[tuple[int, int, int]], notes: Sequence[int] | None) -> list[str]:
        """Receive units, as line id, restocked and scrapped units; with `notes`, credit them with these numbers.

        Returns "credit" for each credit note, and "close" or "close by credit" for each return that is closed.
        """
        found = self.returns[number]
        order = self.orders[found.code]
        reject_if(s409=found.state != "open")
        reject_if(s400=not any(good or bad for _, good, bad in items))
        for line_id, good, bad in items:
            returned, line = found.lines.get(line_id), order.line(line_id)
            reject_if(s400=returned is None or good + bad > returned.quantity - returned.received)
            assert returned is not None
            assert line is not None
            returned.received += good + bad
            line.restocked += good
            line.scrapped += bad
            credited = max(0, self._unaccounted(found.code, line_id))  # before they came back
            unbilled = max(0, min(good + bad - credited, line.dispatched - line.unbilled - line.invoiced))
            line.unbilled += unbilled
            returned.credited += unbilled
            self.products[line.sku].available += good
        if all(line.received == line.quantity for line in found.lines.values()):
            found.state = "received"
        self._serve()
        steps = ["close"] * self._settle(found.code, number)
        return steps if notes is None else steps + self._credit_return(number, order, notes)

    def _credit_return(self, number: str, order: NaiveOrder, notes: Sequence[int]) -> list[str]:
        found = self.returns[number]
        left = {line_id: line.received - line.credited for line_id, line in found.lines.items()}
        steps: list[str] = []
        for invoice in sorted(order.invoices):
            wanted: list[tuple[int | None, int]] = []
            for billed in self.invoices[invoice].lines:
                if billed.line_id is not None:
                    credited = self.invoices[invoice].credited_units(billed)
                    units = min(left.get(billed.line_id, 0), billed.units - credited)
                    if units:
                        wanted.append((billed.line_id, units))
                        left[billed.line_id] -= units
            if wanted:
                note = notes[steps.count("credit")] if steps.count("credit") < len(notes) else 0
                steps += ["credit", *self.credit(invoice, note, lines=wanted, returned=number)]
        return steps

    def _settle(self, code: str, first: str = "") -> int:
        """Count credited units as received ones of returns, and close received returns with none left to credit."""
        closed = 0
        found = {number: found for number, found in self.returns.items() if found.code == code}
        for number in sorted(found, key=lambda each: (each != first, int(each.removeprefix("RMA-")))):
            for line_id, line in found[number].lines.items():
                line.credited += max(0, min(self._unaccounted(code, line_id), line.received - line.credited))
            left = any(line.credited < line.received for line in found[number].lines.values())
            if found[number].state == "received" and not left:
                found[number].state = "closed"
                closed += 1
        return closed

    def _unaccounted(self, code: str, line_id: int) -> int:
        """Units that are on credit notes, or are never invoiced, and that no return accounts for."""
        found = [each for each in self.returns.values() if each.code == code]
        noted = sum(
            self.invoices[invoice].credited_units(billed)
            for invoice in self.orders[code].invoices
            for billed in self.invoices[invoice].lines
            if billed.line_id == line_id
        )
        counted = sum(each.lines[line_id].credited for each in found if line_id in each.lines)
        sold = self.orders[code].line(line_id)
        assert sold is not None
        return noted + sold.unbilled - counted

    def close_return(self, number: str) -> None:
        reject_if(s409=self.returns[number].state == "closed")
        self.returns[number].state = "closed"

    # Prices and customers

    def load_prices(self, number: int, sku: str, costs: Costs, now: datetime) -> None:
        product = self.products[sku]
        self.imports[number] = NaiveImport(sku, product.costs, costs, now)
        product.costs = costs

    def roll_back(self, number: int, now: datetime, *, force: bool) -> None:
        """Restore prices, unless they have changed since, or more than 90 days ago."""
        found = self.imports[number]
        product = self.products[found.sku]
        changed = found.before != found.after
        too_old = now - found.at > timedelta(days=90)
        reject_if(s409=found.is_rolled_back or too_old or (changed and product.costs != found.after and not force))
        found.is_rolled_back = True
        product.costs = found.before if changed else product.costs

    def block(self, customer: int, *, blocked: bool) -> None:
        reject_if(s409=self.customers[customer].blocked == blocked)
        self.customers[customer].blocked = blocked
