"""The pages of `credit_notes`."""
