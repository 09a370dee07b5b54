"""What all HTML pages share: layout, style sheet, scripts, content policy."""
