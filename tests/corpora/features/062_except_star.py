caught = []
try:
    raise ExceptionGroup("many", [ValueError("a"), TypeError("b"), ValueError("c")])
except* ValueError as group:
    caught.append([str(e) for e in group.exceptions])
except* TypeError as group:
    caught.append([str(e) for e in group.exceptions])
caught
