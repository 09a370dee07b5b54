"""A sandbox: orders that live by themselves, and data that are copied from the live database."""
