"""Examples of payments and bank files, for the interface document."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from msgspec.structs import replace

from tradecounter.edge.operations.subject import Described
from tradecounter.kit.wire import ReasonRequest, made_from
from tradecounter.payments.place_bank_line import Placement
from tradecounter.payments.queries.bank_files import StoredFile
from tradecounter.payments.record_payment import PaymentRequest
from tradecounter.payments.wire import (
    Allocation,
    Payment,
    PaymentImport,
    PlacedLine,
    RecordedLine,
    RolledBackFile,
    StoredLine,
    UnplacedLine,
)

_AT = datetime(2026, 6, 18, 9, 12, 44, tzinfo=UTC)
_DAY = date(2026, 6, 18)
_HUNDRED = Decimal("100.00")
_WHY = "the reference has no number of an invoice"

_NEW_PAYMENT = PaymentRequest(invoice=10001, amount=_HUNDRED, received_on=_DAY, reference="HARBOURLINE 10001")
PAYMENT = Payment(
    id=61,
    customer_id=1001,
    amount=_HUNDRED,
    received_on=_DAY,
    method="bank_transfer",
    reference="HARBOURLINE 10001",
    allocations=[Allocation(10001, _HUNDRED)],
    reversed_at=None,
    reversal_reason=None,
)
PAYMENTS_DESCRIBED: Mapping[type, Described] = {
    Payment: Described("The payment.", PAYMENT),
    PaymentRequest: Described("", _NEW_PAYMENT, "Payment"),
    ReasonRequest: Described("", ReasonRequest("The bank returned it."), "Reversal"),
}

FILE = "date,amount,reference\n2026-06-18,100.00,HARBOURLINE 10001\n2026-06-18,12.50,THANK YOU\n"
IMPORT = PaymentImport(
    id=3,
    lines=2,
    recorded=1,
    payments_out=0,
    repeated=0,
    unplaced=[UnplacedLine(id=8, line=3, date="2026-06-18", amount="12.50", reference="THANK YOU", why=_WHY)],
    payments=[
        RecordedLine(
            line=2,
            date=_DAY,
            amount=_HUNDRED,
            reference="HARBOURLINE 10001",
            why="the reference names invoice 10001",
            customer_id=1001,
            customer="Harbourline Communications",
            payment_id=61,
            allocations=[Allocation(10001, _HUNDRED)],
            on_account=Decimal("0.00"),
        )
    ],
    columns={"date": "date", "amount": "amount", "reference": "reference"},
)
_LINE = StoredLine(
    id=8,
    bank_file=3,
    line=3,
    date="2026-06-18",
    amount="12.50",
    reference="THANK YOU",
    received_on=_DAY,
    pounds=Decimal("12.50"),
    state="unplaced",
    why=_WHY,
    payment_id=None,
    customer_id=None,
    changed_at=_AT,
)
_PLACED = made_from(
    _LINE, PlacedLine, state="placed", why="placed by hand", payment_id=61, customer_id=1001, payment=PAYMENT
)
_SETTING_ASIDE = ReasonRequest("It is the landlord's refund.")
_SET_ASIDE = replace(_LINE, state="set_aside", why=_SETTING_ASIDE.reason)
_STORED_FILE = StoredFile(
    id=3,
    name="june.csv",
    at=_AT,
    by="Fran Ledger",
    lines=2,
    recorded=1,
    payments_out=0,
    repeated=0,
    unplaced=1,
    rolled_back_at=None,
)
_ROLLED_BACK = made_from(_STORED_FILE, RolledBackFile, rolled_back_at=_AT + timedelta(hours=1), reversed=[61], kept=[])

BANK_FILES_DESCRIBED: Mapping[type, Described] = {
    StoredLine: Described("The line.", _LINE, "Line"),
    Placement: Described("", Placement(customer_id=1001)),
    PlacedLine: Described("The line with its payment.", _PLACED, "Placed"),
    ReasonRequest: Described("", _SETTING_ASIDE, "SettingAside"),
    StoredFile: Described("The file.", _STORED_FILE),
    RolledBackFile: Described("The file after its roll-back.", _ROLLED_BACK, "RolledBack"),
}
SET_ASIDE = Described("The line.", _SET_ASIDE, "SetAside")
