"""A client's connection: limits, requests that uvicorn would misread, and errors before ASGI."""
