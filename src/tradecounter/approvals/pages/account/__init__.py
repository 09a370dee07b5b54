"""The pages of `approvals` in the account."""
