"""Signing in, the same at both sites."""
