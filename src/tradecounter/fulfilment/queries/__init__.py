"""The SQL of `fulfilment`."""
