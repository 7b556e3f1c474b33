"""Making episodes: from plain text, and from data sets of mysteries. What comes out is a draft until a person confirms it."""
