"""Makes copies of a launch with profiling switched on, and proves that they take effect."""
