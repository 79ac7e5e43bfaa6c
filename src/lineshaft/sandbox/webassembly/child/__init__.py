"""The process of one program of `python_run`: it imports nothing that the program does not need."""
