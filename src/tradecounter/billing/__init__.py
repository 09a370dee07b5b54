"""Invoices, payments and the credit overview."""
