"""Invoices and payments: issued, settled, owed."""
