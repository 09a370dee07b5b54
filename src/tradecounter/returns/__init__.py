"""Returns: dispatched units that customers send back."""
