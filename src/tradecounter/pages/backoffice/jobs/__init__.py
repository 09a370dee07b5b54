"""Background jobs, most of which send e-mails."""
