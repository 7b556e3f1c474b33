"""Small exact statistics in plain Python: numbers in, frozen results out. Nothing here knows a story or loads a library."""
