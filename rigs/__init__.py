"""What tries the whole program for long: fuzzing, kills, hostile clients, drills, fail-over (docs/rigs.md)."""
