"""Shipping: methods, regions, costs, dates."""
