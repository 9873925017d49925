"""Facts about this host: CANN, npu-smi, torch_npu, disk, ports, processes."""
