"""The operations of `shipments`."""
