"""Hooks of sessions: functions around launches that are active as long as one of their sessions is."""

from __future__ import annotations

from .hook import Hook, HookManager
from .instrumentation import InstrumentationHook
from .launch import LaunchHook

__all__ = ["Hook", "HookManager", "InstrumentationHook", "LaunchHook"]
