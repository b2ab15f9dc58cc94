"""What has neither a test nor a reason."""

from __future__ import annotations

from .evidence import Evidence, exists
from .names import AMD, REASONS, topics

__all__ = ["KINDS", "gaps"]

#: What counts as shown on a target, best first.
KINDS = {
    "nvidia": ("hardware", "emulated", "compiled"),
    "amd": AMD,
    "cpu": ("cpu",),
    "interpreter": ("interpreter",),
    "host": ("host",),
}


def gaps(evidence: Evidence) -> list[str]:
    """ "name on target", for each without evidence that exists and without a reason; names with neither nor, too."""
    return [
        f"{name} on {target}"
        for topic in topics()
        for name in topic.names
        for target in topic.targets
        if (name, target) not in REASONS
        and not any(exists(evidence.get(name, {}).get(kind, "")) for kind in KINDS[target])
    ]
