"""HTTP helpers for all slices: endpoint declarations, request parsing, responses.

The slices' `http.py` files use them; `web/` assembles the API.
"""
