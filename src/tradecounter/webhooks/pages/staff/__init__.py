"""The pages of `webhooks` in the back office."""
