"""The parts of a diagnosis: one module for each question, all over one `Sample` of runs."""
