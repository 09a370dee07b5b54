"""The application: routing, errors, request context, the fast path, processes and their end."""
