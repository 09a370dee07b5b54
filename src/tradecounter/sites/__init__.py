"""The programs: the sites, the worker and the command line, put together from the parts of the slices."""
