"""Request samples in the programming languages that customers use."""
