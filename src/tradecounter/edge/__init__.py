"""HTTP, pages and commands without features: what every slice declares its doors with."""
