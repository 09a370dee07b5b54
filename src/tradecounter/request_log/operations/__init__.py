"""The endpoint of a customer's own requests."""
