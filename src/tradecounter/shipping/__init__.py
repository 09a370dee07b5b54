"""Shipping: methods, what they cost, when they leave and arrive."""
