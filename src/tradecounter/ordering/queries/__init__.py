"""The statements of orders; in front of them, functions that say what they take and return."""
