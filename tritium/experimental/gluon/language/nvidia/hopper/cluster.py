"""Synchronization of the CTAs of a cluster."""

from ......frontend.gluon.library import cluster_barrier as barrier

__all__ = ["barrier"]
