"""What users want to be told by e-mail: that a product is in stock again."""
