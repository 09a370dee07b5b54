"""The in-memory picture of all products, and the indexes that search it."""
