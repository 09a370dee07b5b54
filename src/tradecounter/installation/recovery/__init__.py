"""What a database needs that was restored from a backup, before services use it again."""
