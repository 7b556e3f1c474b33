"""Studies: designed runs and their analysis, and whether the metrics mean what people mean (LudicMetrics §4.5–5.7, §7)."""
