"""Orders: the list, one order, and what staff do with it."""
