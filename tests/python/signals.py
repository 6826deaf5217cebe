"""Signals that arrive while the native module works, as Ctrl+C does."""

import contextlib
import signal


class Interrupted(Exception):
    """What the handler raises, as that of Ctrl+C raises KeyboardInterrupt."""


@contextlib.contextmanager
def signal_soon(act=lambda: None):
    """A moment from now a signal arrives, whose handler does something and raises Interrupted."""

    def handler(*_):
        act()
        raise Interrupted

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
