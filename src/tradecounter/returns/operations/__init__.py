"""The operations of `returns`."""
