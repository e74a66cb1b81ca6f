"""GradScaler for one kind of device."""

from ...amp._named import scaler_of

GradScaler = scaler_of("cpu")
