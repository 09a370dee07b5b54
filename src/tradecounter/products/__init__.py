"""The catalogue: products, categories, manufacturers, attributes; the in-memory snapshot that serves them."""
