"""The operations of `customer_requests`."""
