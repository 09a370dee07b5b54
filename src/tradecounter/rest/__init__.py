"""HTTP for endpoints of any slice: descriptions, reading requests, writing responses.

The slices' `http.py` files build on it; `web/` assembles them.
"""
