"""The reseller as invoices and mails show it: its details and its logo."""
