"""The processes inside the jail: the parent, and the one that it forks for each run.

Above: `_fork_server.py` and `_run.py` in the host, over sockets. Below: the guest, which is the
same in every engine, and the script. These files are sent to a bare interpreter as text and see
only each other, `_wire.py` and `readings.py` of Lineshaft. A script can reach everything in its own
process: these files keep order there, `_wall.py` and the jail are the boundary.
"""
