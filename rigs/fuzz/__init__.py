"""Random requests, raw bytes, parsers and histories."""
