"""The operations of `webhooks`."""
