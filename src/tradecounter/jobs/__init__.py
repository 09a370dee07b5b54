"""Background jobs, and what waits in the database for the worker."""
