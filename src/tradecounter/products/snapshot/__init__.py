"""The in-memory snapshot of all products and its indexes."""
