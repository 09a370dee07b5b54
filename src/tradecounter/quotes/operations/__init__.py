"""The operations of `quotes`."""
