"""The pages of `customers` at both sites."""
