"""`python -m lineshaft` is the command line."""

from lineshaft.cli import main

if __name__ == "__main__":
    main()
