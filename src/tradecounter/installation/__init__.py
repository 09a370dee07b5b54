"""The commands of operators: setting up, checking, secrets."""
