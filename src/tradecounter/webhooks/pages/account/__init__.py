"""The pages of `webhooks` in the account."""
