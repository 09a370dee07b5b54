"""All import kinds, samples that fill an empty database, and a function that runs an import."""
