import sys
return sys.platform in ("linux", "darwin", "win32")
