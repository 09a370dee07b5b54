"""The operations of `customers`."""
