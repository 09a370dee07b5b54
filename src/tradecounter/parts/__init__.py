"""What operations and pages of several slices are made with: services, and orders as the staff see them."""
