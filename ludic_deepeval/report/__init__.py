"""Reports: findings out, nothing computed."""
