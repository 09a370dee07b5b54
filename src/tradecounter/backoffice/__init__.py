"""The back-office API: one file per subject, which calls the use cases of the slices."""
