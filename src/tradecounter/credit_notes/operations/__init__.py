"""The endpoints of `credit_notes`."""
