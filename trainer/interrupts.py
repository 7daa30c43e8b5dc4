"""Signals that ask a process to end."""

import signal
import threading


class Interrupt:
    """While entered, the first SIGINT, SIGTERM or SIGHUP only sets `asked`; the second one acts as usual. A SIGHUP that is
    ignored, as under nohup, stays so."""

    def __init__(self):
        self.asked = False
        self._before = {}

    def __enter__(self) -> "Interrupt":
        if threading.current_thread() is not threading.main_thread():
            return self  # Python lets no other thread take signals; they act as usual then
        for number in (signal.SIGINT, signal.SIGTERM, *hangup()):
            self._before[number] = signal.signal(number, self._ask)
        return self

    def _ask(self, number, frame):
        self.asked = True
        self.__exit__()

    def __exit__(self, *_):
        for number, handler in self._before.items():
            signal.signal(number, handler)


def hangup() -> list[signal.Signals]:
    """SIGHUP, unless the process was started to outlive its terminal, as by nohup."""
    return [] if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else [signal.SIGHUP]
