"""The commands of operators: setting up, checking, running services, secrets."""
