"""The requests of each key in the last seven days, for the customer's developers."""
