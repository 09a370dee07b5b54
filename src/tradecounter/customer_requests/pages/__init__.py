"""The pages of `customer_requests`."""
