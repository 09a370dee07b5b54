"""The operations of `payments`."""
