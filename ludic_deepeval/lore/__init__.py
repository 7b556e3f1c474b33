"""Lorebooks, World Info and vaults of notes, read as Story Bibles."""
