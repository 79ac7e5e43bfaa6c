try:
    start = datetime.datetime.strptime("10:05", "%H:%M")
    return start.minute
except ValueError:
    return "not a time"
