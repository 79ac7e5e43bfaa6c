"""What runs inside the jail: the parent, and the process that it forks for each run.

Above: `_fork_server.py` and `_run.py` in the host, over sockets. Below: the guest, which is the
same in every engine, and the script. These files are sent to a bare interpreter as text and see
nothing of Lineshaft but each other, `_wire.py` and `readings.py`. A script can reach whatever is in
its own process: they keep order there, `_wall.py` and the jail are the boundary.
"""
