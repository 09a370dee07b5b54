"""The pages of `customer_notes` in the back office."""
