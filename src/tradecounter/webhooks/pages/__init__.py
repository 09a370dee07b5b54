"""The pages of `webhooks`."""
