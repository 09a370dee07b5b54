"""The pages of `customer_notes`."""
