"""What the attacks of `lineshaft doctor` are made at: a process of its own, gone with its host."""

import os
import subprocess
import sys
from contextlib import suppress
from select import select

import pytest

HOST = """
import os
from lineshaft.sandbox.bundle import resolve
from lineshaft.sandbox.jail import SandboxSpec
from lineshaft.sandbox.jail._targets import targets
from lineshaft.values import PythonOptions
interpreter = resolve(PythonOptions())
with targets(SandboxSpec(readable=interpreter.readable), interpreter) as about:
    print(about["victim"], flush=True)
    os.kill(os.getpid(), 9)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="platform: jails are Linux's")
def test_the_process_that_attacks_are_made_at_ends_with_its_host() -> None:
    host = [sys.executable, "-c", HOST]
    done = subprocess.run(
        host, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False
    )
    assert done.returncode == -9
    with suppress(ProcessLookupError):
        victim = os.pidfd_open(int(done.stdout))
        ended, _, _ = select([victim], [], [], 60)
        os.close(victim)
        assert ended
