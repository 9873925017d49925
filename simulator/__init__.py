"""A simulated NPU host for the demo and the tests. Nothing here runs on a device."""
