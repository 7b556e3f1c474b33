"""The parts of the HTML report, and the style and script that stand in it."""
