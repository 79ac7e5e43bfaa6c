"""What a terminal sends to every process in front of it is answered by the host alone."""

import signal
from collections.abc import Generator
from contextlib import contextmanager

_FOR_THE_HOST = ("SIGINT", "SIGTERM", "SIGHUP")


@contextmanager
def unsignalled() -> Generator[None]:
    """Keep processes that this thread starts inside the block from hearing such signals.

    Ctrl-C reaches all processes of a terminal at once. A worker that died of it before the host
    has cancelled the run would make a crash of what is a cancelled run. A worker ends by
    the host's hand, or with the pipe to it.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows: only the console's own process hears
        yield
        return
    wanted = {getattr(signal, name) for name in _FOR_THE_HOST}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
    try:
        yield  # a process inherits the mask of the thread that starts it
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
