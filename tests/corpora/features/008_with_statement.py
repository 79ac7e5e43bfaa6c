class Timer:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append("enter")
        return self

    def __exit__(self, kind, error, trace):
        self.log.append(f"exit {error}")
        return kind is not None

log = []
with Timer(log) as timer:
    log.append("body")
with Timer(log):
    raise ValueError("swallowed")
log
