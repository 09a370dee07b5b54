"""Orders that wait for stock: their expected dates, and the allocation of new stock."""
