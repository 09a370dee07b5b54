"""Invoices, credit notes, the statement and the credit of a customer."""
