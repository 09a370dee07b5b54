"""Creation of pending orders and quotes, from the request body to the stored order."""
