"""Credit notes: issued against invoices, and for returns."""
