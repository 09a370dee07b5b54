"""Stock: levels, deliveries, allocation and back-orders."""
