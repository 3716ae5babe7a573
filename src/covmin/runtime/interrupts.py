"""Ctrl-C as a request to end well."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self


class Interrupts:
    """Whether the user has asked a fit to end.

    The first Ctrl-C asks, and the work ends at the next step it can be used from; the second
    is an ordinary interrupt.
    """

    def __init__(self) -> None:
        self.asked = False

    @classmethod
    @contextmanager
    def noticed(cls, keep: bool) -> Iterator[Self]:
        """Notice Ctrl-C while the block runs, if ``keep`` and in the main thread."""
        interrupts = cls()
        # Only the main thread hears signals.
        if not keep or threading.current_thread() is not threading.main_thread():
            yield interrupts
            return
        before = signal.getsignal(signal.SIGINT)

        def ask(number: int, frame: FrameType | None) -> None:
            interrupts.asked = True
            signal.signal(signal.SIGINT, before)

        signal.signal(signal.SIGINT, ask)
        try:
            yield interrupts
        finally:
            signal.signal(signal.SIGINT, before)
