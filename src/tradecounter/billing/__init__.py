"""Invoices, statements and the credit overview; how invoices and credit notes are printed."""
