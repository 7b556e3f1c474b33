"""Studies of the metrics: factorial designs, their statistics, sensitivity and human validity."""
