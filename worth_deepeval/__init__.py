"""Can a model find its own evidence in a mystery? The WORTH benchmark (in preparation)."""
