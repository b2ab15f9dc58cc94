"""The interface of hooks, and the active hooks."""

from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict
from typing import Any, ClassVar

from ...support.settings import runtime
from ..session import sessions
from ..timing import propagating

__all__ = ["Hook", "HookManager"]


class Hook:
    """Functions called around loads and launches of kernels while a session with this hook is active.

    Hooks of higher `priority` are entered first and left last.
    """

    priority: int = 0

    @abstractmethod
    def init_handle(self, module: Any, function: Any, name: str, metadata_group: dict[str, str], hash: str) -> None:
        """The code of a kernel has been loaded."""
        raise NotImplementedError

    def destroy_handle(self, module: Any, function: Any, name: str, metadata_group: dict[str, str], hash: str) -> None:
        """The code of a kernel is unloaded."""

    @abstractmethod
    def enter(self, metadata: Any) -> None:
        """A launch begins."""
        raise NotImplementedError

    @abstractmethod
    def exit(self, metadata: Any) -> None:
        """A launch has returned."""
        raise NotImplementedError

    @abstractmethod
    def activate(self) -> None:
        """The hook's first session becomes active."""
        raise NotImplementedError

    @abstractmethod
    def deactivate(self) -> None:
        """The hook has no active session any more."""
        raise NotImplementedError


class HookManager:
    """The hooks of all sessions: `session_hooks` says which are active in which, `active_hooks` has each once."""

    active_hooks: ClassVar[list[Hook]] = []
    session_hooks: ClassVar[dict[int, dict[Hook, bool]]] = defaultdict(lambda: defaultdict(bool))

    @staticmethod
    @propagating
    def init_handle(*about: Any) -> None:
        """Tell the active hooks of loaded code."""
        for hook in list(HookManager.active_hooks):
            hook.init_handle(*about)

    @staticmethod
    def destroy_handle(*about: Any) -> None:
        """Tell the active hooks of unloaded code."""
        for hook in reversed(HookManager.active_hooks):
            hook.destroy_handle(*about)

    @staticmethod
    @propagating
    def enter(metadata: Any) -> None:
        """A launch begins."""
        for hook in list(HookManager.active_hooks):
            hook.enter(metadata)

    @staticmethod
    @propagating
    def exit(metadata: Any) -> None:
        """A launch has returned: hooks are called in reverse order."""
        for hook in reversed(HookManager.active_hooks):
            hook.exit(metadata)

    @staticmethod
    def activate(session: int | None = None) -> None:
        """Activate the hooks of all sessions, or of one."""
        for number in HookManager._numbers(session):
            for hook in HookManager.session_hooks[number]:
                HookManager._switch_on(hook, number)

    @staticmethod
    def deactivate(session: int | None = None) -> None:
        """Deactivate hooks that no other session has active."""
        for number in HookManager._numbers(session):
            for hook in HookManager.session_hooks[number]:
                HookManager.session_hooks[number][hook] = False
        HookManager._drop_unused()

    @staticmethod
    def register(hook: Hook, session: int) -> None:
        """Add a hook to a session, and activate it."""
        HookManager._switch_on(hook, session)
        runtime.kernel_load_end_hook.add(HookManager.init_handle)
        runtime.kernel_unload_hook.add(HookManager.destroy_handle)
        runtime.launch_enter_hook.add(HookManager.enter)
        runtime.launch_exit_hook.add(HookManager.exit)
        sessions.reattach_timer()

    @staticmethod
    def unregister(session: int | None = None) -> None:
        """Take the hooks of all sessions, or of one, away."""
        for number in HookManager._numbers(session):
            del HookManager.session_hooks[number]
        HookManager._drop_unused()
        if not HookManager.session_hooks:
            runtime.kernel_load_end_hook.remove(HookManager.init_handle)
            runtime.kernel_unload_hook.remove(HookManager.destroy_handle)
            runtime.launch_enter_hook.remove(HookManager.enter)
            runtime.launch_exit_hook.remove(HookManager.exit)

    @staticmethod
    def _numbers(session: int | None) -> list[int]:
        known = HookManager.session_hooks
        return list(known) if session is None else [session] if session in known else []

    @staticmethod
    def _switch_on(hook: Hook, session: int) -> None:
        HookManager.session_hooks[session][hook] = True
        if hook not in HookManager.active_hooks:
            hook.activate()
            HookManager.active_hooks.append(hook)
            HookManager.active_hooks.sort(key=lambda h: h.priority, reverse=True)

    @staticmethod
    def _drop_unused() -> None:
        for hook in list(HookManager.active_hooks):
            if not any(hooks.get(hook) for hooks in HookManager.session_hooks.values()):
                HookManager.active_hooks.remove(hook)
                hook.deactivate()
