"""The pages of `request_log` in the account."""
