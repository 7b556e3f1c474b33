"""Studies: factorial ablations with a model, kept line by line, and what they show (LudicMetrics §4.5–5.7)."""
