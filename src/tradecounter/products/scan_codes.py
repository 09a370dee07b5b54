"""What a scanner reads off a product."""


class Scanned:
    """What has a product's `sku` and `ean`, and so the codes by which it is scanned."""

    __slots__ = ()
    sku: str
    ean: str | None

    @property
    def codes(self) -> str:
        """What a scan of the product may read, a line each: SKUs may contain spaces."""
        return f"{self.sku}\n{self.ean}" if self.ean else self.sku
