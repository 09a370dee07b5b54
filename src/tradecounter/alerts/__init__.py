"""E-mails that users choose: products in stock again, changed prices, parcels, invoices that are due soon."""
