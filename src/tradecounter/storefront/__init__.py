"""The catalogue as one customer sees it: products at its own prices, with live stock."""
