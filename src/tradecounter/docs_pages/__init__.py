"""HTML pages for customers' developers: the reference and the guide."""
