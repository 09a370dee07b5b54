"""The database: connections, transactions, migrations, change notices, the job queue."""
