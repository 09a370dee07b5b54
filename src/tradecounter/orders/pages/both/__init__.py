"""The pages of `orders` at both sites."""
