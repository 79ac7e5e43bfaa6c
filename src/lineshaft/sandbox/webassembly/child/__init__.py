"""The process of one program of `python_run`; it imports only what the program needs."""
