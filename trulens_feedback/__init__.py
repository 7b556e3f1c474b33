"""The scores of ludic_deepeval and worth_deepeval as TruLens feedback (in preparation)."""
