"""The pages of `approvals`."""
