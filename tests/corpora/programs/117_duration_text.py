def human(seconds):
    parts = []
    for name, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        amount, seconds = divmod(seconds, size)
        if amount:
            parts.append(f"{amount}{name}")
    return " ".join(parts) or "0s"

log = (await read_file(path="logs/app.log"))["content"].splitlines()
times = [datetime.datetime.strptime(line[:19], "%Y-%m-%d %H:%M:%S") for line in log]
gaps = [int((b - a).total_seconds()) for a, b in zip(times, times[1:])]
return [human(g) for g in gaps] + [human(sum(gaps)), human(0)]
