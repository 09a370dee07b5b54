"""Invoices, credit notes, statements and the credit overview."""
