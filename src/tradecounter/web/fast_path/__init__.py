"""Product responses from memory: the cache, its middleware, and the protocol class that writes them directly."""
