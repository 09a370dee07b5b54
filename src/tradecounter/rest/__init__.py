"""What every endpoint needs of HTTP: describing it, reading its request, writing its answer.

It knows nothing of orders or products; the slices' `http.py` files build on it, `web/` puts them together.
"""
