"""A study's report: Markdown, and one HTML page with its pictures."""
