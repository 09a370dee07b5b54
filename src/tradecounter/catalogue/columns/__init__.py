"""Many small values in a few large buffers: what a snapshot of 100,000 products is made of.

As Python objects they would take several times the memory, every garbage collection would walk over them, and passing
them between processes would create each of them again. All of these types pickle without copying their buffers.
"""
