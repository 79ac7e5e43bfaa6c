"""What runs inside the jail: the warm parent, and the child of it that each script gets.

Above: `_warm.py` and `_run.py` in the host, over sockets. Below: the script. These files are
sent to a bare interpreter as text and see nothing of Lineshaft but each other, `_wire.py`, and
the few files of the engines room that say what every script may use. Whatever they hold the
script can reach: they keep order, the jail is the boundary.
"""
