"""Signals during work of the native module, like Ctrl+C."""

import contextlib
import signal


class Interrupted(Exception):
    """Raised by the handler, as Ctrl+C's handler raises KeyboardInterrupt."""


@contextlib.contextmanager
def signal_soon(act=lambda: None):
    """Schedules a signal with a handler that calls `act` and raises Interrupted."""

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
