"""The reseller's details and logo for invoices and e-mails."""
