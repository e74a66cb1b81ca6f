"""Device kernels without a device: compiled by NVRTC, and run as host code with their bounds checked."""
