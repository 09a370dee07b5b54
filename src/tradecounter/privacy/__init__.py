"""What a customer may ask about its data: a copy of all of it, and its erasure."""
