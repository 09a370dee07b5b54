"""Orders: creation, confirmation, cancellation, lists."""
