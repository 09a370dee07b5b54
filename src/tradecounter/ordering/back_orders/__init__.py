"""Orders that wait for stock: when it is expected, and who gets what came in."""
