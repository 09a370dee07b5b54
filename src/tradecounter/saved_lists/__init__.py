"""Lists of products that customers' users keep to order from, and their pages."""
