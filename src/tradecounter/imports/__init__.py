"""All kinds of import files, with samples that fill an empty database, and running an import."""
