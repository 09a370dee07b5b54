"""A new order or quote: its lines, and its confirmation."""
