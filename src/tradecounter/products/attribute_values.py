"""Reads the values of attributes that people type, by the attribute's type."""

from tradecounter.kit.numbers import read_count
from tradecounter.products.wire import AttributeType


def read_attribute_value(attribute_type: AttributeType, text: str) -> str:
    """Return a value as products store it. Raises UnreadableNumberError unless a number is a whole number."""
    return str(read_count(text, signed=True)) if attribute_type == "int" else text
