"""The operations of `billing`."""
