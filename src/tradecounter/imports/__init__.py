"""All kinds of import files, and running an import in its own transaction."""
