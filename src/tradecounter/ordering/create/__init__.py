"""Creating a pending order or a quote: from the body of a request to what is stored."""
