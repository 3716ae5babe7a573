"""Treat Ctrl-C as a request to finish early with a usable result."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self


class Interrupts:
    """Whether the user has asked a fit to stop.

    The first Ctrl-C is a request: the fit stops at the next step that leaves a usable result.
    The second Ctrl-C is an ordinary interrupt.
    """

    def __init__(self) -> None:
        self.asked = False

    @classmethod
    @contextmanager
    def noticed(cls, keep: bool) -> Iterator[Self]:
        """Watch for Ctrl-C during the block, if ``keep`` is true and in the main thread."""
        interrupts = cls()
        # Only the main thread receives signals.
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
