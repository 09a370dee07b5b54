"""What a scanner reads off a product."""


def scan_codes(sku: str, ean: str | None) -> str:
    """Return the codes by which a product is scanned, a line each: SKUs may contain spaces."""
    return f"{sku}\n{ean}" if ean else sku
