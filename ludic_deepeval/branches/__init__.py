"""Branching stories (LudicMetrics §6.2): passages and choices, what can be reached, and what contradicts what along the paths.

`graph` is the one model that every format is read into, `shape` looks at the graph alone, `along` lays a Fact Ledger over it.
"""
