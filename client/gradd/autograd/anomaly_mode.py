"""Anomaly mode under the name of its file in PyTorch (torch.autograd.anomaly_mode)."""

from gradd_engine.backward import detect_anomaly, set_detect_anomaly

__all__ = ["detect_anomaly", "set_detect_anomaly"]
