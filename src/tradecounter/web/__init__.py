"""The API put together: composition, routing, errors, the interface document and its page."""
