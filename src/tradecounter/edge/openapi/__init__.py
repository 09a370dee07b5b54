"""The interface document (OpenAPI 3.1), generated from the slices' operations and their types."""
