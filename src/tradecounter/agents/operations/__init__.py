"""The tools of `/mcp`, and the server that offers them."""
