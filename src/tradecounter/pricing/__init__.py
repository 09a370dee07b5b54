"""What a product costs a customer: price lists, contract prices, account discounts."""
