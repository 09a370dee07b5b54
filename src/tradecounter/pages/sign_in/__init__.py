"""Signing in and out, passwords and second factors: the same pages at both sites."""
