"""Any sequence of invoices, payments, refunds, reversals and credit notes agrees with a naive ledger."""

from dataclasses import dataclass, field
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.billing import credit, due_of, invoiced, number_of, pay_in, reverse, unallocated
from support.orders import faults_in_the_books, outstanding
from support.service import Customer, Service
from tradecounter.billing.reseller_wire import Payment
from tradecounter.kit.errors import DomainError
from tradecounter.kit.money import percentage

NET, GROSS = Decimal("55.50"), Decimal("66.60")
POUNDS = st.decimals(min_value="0.01", max_value=150, places=2)
WHICH = st.integers(0, 3)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("invoice")),
        st.tuples(st.just("pay account"), POUNDS),
        st.tuples(st.just("pay invoice"), POUNDS, WHICH),
        st.tuples(st.just("refund"), POUNDS),
        st.tuples(st.just("reverse"), WHICH),
        st.tuples(st.just("credit"), POUNDS, WHICH),
    ),
    min_size=4,
    max_size=9,
)


@dataclass
class NaivePayment:
    payment: Payment
    free: Decimal
    paid: dict[int, Decimal] = field(default_factory=dict)
    is_refund: bool = False
    reversed: bool = False
    refunds: dict[int, Decimal] = field(default_factory=dict)  # of a refund: what it took of payments, by index


@dataclass
class NaiveInvoice:
    number: int
    due: Decimal = GROSS
    net: Decimal = NET
    vat: Decimal = GROSS - NET


class NaiveLedger:
    """Keeps the books of one customer with lists and sums, beside the service."""

    def __init__(self, shop: Service, customer: Customer) -> None:
        self.shop, self.customer = shop, customer
        self.invoices: list[NaiveInvoice] = []
        self.payments: list[NaivePayment] = []

    def invoice(self) -> None:
        made = NaiveInvoice(number_of(self.shop, invoiced(self.shop, self.customer)))
        self.invoices.append(made)
        for payment in self.payments:
            self._give(payment, made)

    def pay(self, amount: Decimal, targets: list[NaiveInvoice], number: int | None = None) -> None:
        recorded = NaivePayment(pay_in(self.shop, self.customer, str(amount), number), amount)
        self.payments.append(recorded)
        for target in targets:
            self._give(recorded, target)

    def _give(self, payment: NaivePayment, invoice: NaiveInvoice) -> None:
        share = min(payment.free, invoice.due)
        payment.free -= share
        invoice.due -= share
        payment.paid[invoice.number] = payment.paid.get(invoice.number, Decimal(0)) + share

    def refund(self, amount: Decimal) -> None:
        if amount > self.free:
            with pytest.raises(DomainError, match="on the account"):
                pay_in(self.shop, self.customer, str(amount), method="refund")
            return
        recorded = pay_in(self.shop, self.customer, str(amount), method="refund")
        made = NaivePayment(recorded, Decimal(0), is_refund=True)
        for index, payment in enumerate(self.payments):
            share = min(payment.free, amount)
            payment.free -= share
            amount -= share
            made.refunds[index] = share
        self.payments.append(made)

    def reverse(self, index: int) -> None:
        payment = self.payments[index]
        refunded = any(p.refunds.get(index) for p in self.payments if not p.reversed)
        if payment.reversed or refunded:
            with pytest.raises(DomainError, match=r"already reversed|was refunded"):
                reverse(self.shop, payment.payment)
            return
        reverse(self.shop, payment.payment)
        payment.reversed, payment.free = True, Decimal(0)
        for taken, share in payment.refunds.items():
            self.payments[taken].free += share
        for invoice in self.invoices:
            invoice.due += payment.paid.pop(invoice.number, Decimal(0))

    def credit(self, net: Decimal, invoice: NaiveInvoice) -> None:
        if net > invoice.net:
            with pytest.raises(DomainError, match="not yet credited"):
                credit(self.shop, invoice.number, amount=str(net))
            return
        credit(self.shop, invoice.number, amount=str(net))
        vat = invoice.vat if net == invoice.net else min(percentage(net, Decimal(20)), invoice.vat)
        invoice.net, invoice.vat, invoice.due = invoice.net - net, invoice.vat - vat, invoice.due - net - vat
        for payment in reversed(self.payments):
            if invoice.due < 0:
                back = min(-invoice.due, payment.paid.get(invoice.number, Decimal(0)))
                payment.free += back
                invoice.due += back
                payment.paid[invoice.number] = payment.paid.get(invoice.number, Decimal(0)) - back

    @property
    def free(self) -> Decimal:
        return sum((payment.free for payment in self.payments), Decimal(0))

    def check(self) -> None:
        assert unallocated(self.shop, self.customer) == self.free
        assert outstanding(self.shop, self.customer) == sum(invoice.due for invoice in self.invoices)
        assert [due_of(self.shop, invoice.number) for invoice in self.invoices] == [i.due for i in self.invoices]


@given(STEPS)
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_books_agree_with_a_naive_ledger(shop: Service, steps: list[tuple[str, ...]]) -> None:
    ledger = NaiveLedger(shop, shop.customer(credit="5000"))
    for step, *values in [("invoice",), *steps]:
        match step:
            case "invoice":
                ledger.invoice()
            case "pay account":
                ledger.pay(Decimal(values[0]), ledger.invoices)
            case "pay invoice":
                invoice = ledger.invoices[int(values[1]) % len(ledger.invoices)]
                ledger.pay(Decimal(values[0]), [invoice], invoice.number)
            case "refund":
                ledger.refund(Decimal(values[0]))
            case "credit":
                ledger.credit(Decimal(values[0]), ledger.invoices[int(values[1]) % len(ledger.invoices)])
            case "reverse" if ledger.payments:
                ledger.reverse(int(values[0]) % len(ledger.payments))
        ledger.check()
    assert faults_in_the_books(shop) == {}
