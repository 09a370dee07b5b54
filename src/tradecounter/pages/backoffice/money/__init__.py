"""Money: debtors, invoices, credit notes, payments and statements."""
