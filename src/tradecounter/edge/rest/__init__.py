"""HTTP helpers for all slices: endpoint declarations, request parsing, responses.

The `operations` of the slices use them; `sites/` assembles the API.
"""
