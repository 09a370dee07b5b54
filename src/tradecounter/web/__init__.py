"""The whole API over HTTP: composition, routing, errors, the interface document, the server."""
