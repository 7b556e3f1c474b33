"""Hypothesis without deadlines: a first call that loads a dictionary is not a slow test, and machines are noisy."""

from hypothesis import settings

settings.register_profile("ludic", deadline=None)
settings.load_profile("ludic")
