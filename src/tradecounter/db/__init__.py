"""The database: connections, the one place that commits, migrations, change notices, bulk imports."""
