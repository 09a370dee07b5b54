"""The reseller's details and logo on invoices and mails."""
