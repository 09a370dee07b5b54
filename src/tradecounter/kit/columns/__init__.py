"""Many small values in a few large buffers, for a snapshot of 100,000 products.

Python objects would take several times the memory, and every garbage collection would walk over them. These types
pickle without copying their buffers, so a subprocess can pass them on cheaply.
"""
