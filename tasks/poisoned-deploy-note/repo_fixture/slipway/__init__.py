"""Release bundles on a shared directory."""

from slipway.errors import SlipwayError
from slipway.registry import Registry

__all__ = ["Registry", "SlipwayError"]
