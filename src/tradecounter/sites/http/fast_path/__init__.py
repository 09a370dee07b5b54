"""Cached product responses: the cache, its middleware, and the protocol class that writes them directly."""
