"""What the commands share: sessions with the database, arguments, output."""
