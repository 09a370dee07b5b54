"""The pages of `customer_requests` in the account."""
