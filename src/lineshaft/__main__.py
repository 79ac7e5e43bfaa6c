"""`python -m lineshaft` is the command line."""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the folder it was started in: a file there would stand for a library
    from lineshaft.cli import main

    main()
