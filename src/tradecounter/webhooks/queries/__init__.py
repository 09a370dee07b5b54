"""The SQL of `webhooks`."""
