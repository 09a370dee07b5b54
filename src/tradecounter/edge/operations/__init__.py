"""Declares the back office's operations from the types of their methods, and runs them."""
