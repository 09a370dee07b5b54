"""Parts of the HTTP server: limits of a connection, compression, addresses of clients."""
