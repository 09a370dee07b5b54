"""The interface document (OpenAPI 3.1), made from the operations that the slices declare and the types they name."""
