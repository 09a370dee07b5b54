"""One client's connection: its bounds, the requests that uvicorn alone would misread, and errors before ASGI."""
