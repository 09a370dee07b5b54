"""Stock: levels, incoming deliveries, allocation and back-order."""
