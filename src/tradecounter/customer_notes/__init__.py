"""What staff know of customers: contacts, notes, promises to pay, and all that has happened in one timeline."""
