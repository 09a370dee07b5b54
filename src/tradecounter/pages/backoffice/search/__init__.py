"""The search box."""
