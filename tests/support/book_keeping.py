"""A naive twin of stock and credit: it keeps the books of a few orders by counting units one after another."""

from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal

SHIPPING = Decimal("6.00")  # with VAT
PENNY = Decimal("0.01")


@dataclass
class TwinLine:
    """A line's price and units."""

    sku: str
    price: Decimal
    wanted: int
    allocated: int = 0
    dispatched: int = 0
    cancelled: int = 0
    restocked: int = 0
    scrapped: int = 0

    @property
    def back_ordered(self) -> int:
        return self.wanted - self.allocated - self.dispatched

    @property
    def returned(self) -> int:
        return self.restocked + self.scrapped

    @property
    def gross(self) -> Decimal:
        net = self.price * (self.wanted - self.returned)  # nothing is invoiced, so what came back is not owed
        return net + (net * 20 / 100).quantize(PENNY, ROUND_HALF_UP)


@dataclass
class TwinOrder:
    """An order's lines by id, in their order."""

    lines: dict[int, TwinLine]
    cancelled: bool = False

    @property
    def gross(self) -> Decimal:
        return Decimal(0) if self.cancelled else sum((line.gross for line in self.lines.values()), SHIPPING)

    @property
    def undispatched(self) -> int:
        return sum(line.wanted - line.dispatched for line in self.lines.values())

    @property
    def dispatched(self) -> int:
        return sum(line.dispatched for line in self.lines.values())


@dataclass
class Twin:
    """Orders in the order of their confirmations, units for sale, and units received from suppliers."""

    available: dict[str, int]
    received: dict[str, int] = field(default_factory=dict)
    orders: list[TwinOrder] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.received = dict(self.available)

    def serve(self) -> None:
        for order in self.orders:
            for line in order.lines.values():
                while not order.cancelled and line.back_ordered and self.available[line.sku]:
                    line.allocated += 1
                    self.available[line.sku] -= 1

    def stock(self, sku: str, units: int) -> None:
        self.received[sku] += units - self.available[sku]
        self.available[sku] = units
        self.serve()

    def want(self, line: TwinLine, units: int) -> None:
        """Change the wanted units; units that are no longer wanted come from the back-order first."""
        line.wanted = units
        while line.back_ordered < 0:
            line.allocated -= 1
            self.available[line.sku] += 1

    def cancel(self, order: TwinOrder, line: TwinLine, units: int) -> None:
        self.want(line, line.wanted - units)
        line.cancelled += units
        order.cancelled = order.undispatched == 0 and order.dispatched == 0
        self.serve()

    def level(self, sku: str) -> tuple[int, int, int]:
        lines = [line for order in self.orders for line in order.lines.values() if line.sku == sku]
        allocated = sum(line.allocated for line in lines)
        on_hand = self.received[sku] - sum(line.dispatched - line.restocked for line in lines)
        assert on_hand == self.available[sku] + allocated
        waiting = [line for order in self.orders if not order.cancelled for line in order.lines.values()]
        return self.available[sku], allocated, sum(line.back_ordered for line in waiting if line.sku == sku)
