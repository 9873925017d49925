"""A training run on disk: launch, supervise, follow, stop, explain."""
