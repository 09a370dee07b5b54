"""Quotes that are opened and accepted with a one-time link."""
