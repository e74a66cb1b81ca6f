"""autocast for one kind of device."""

from ...amp._named import autocast_of

autocast = autocast_of("cpu")
