import time
a = time.monotonic()
time.sleep(0.001)
b = time.perf_counter()
return [time.monotonic() > a, isinstance(time.time(), float), b > 0]
