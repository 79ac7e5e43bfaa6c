import sys

calls = 0
history = []

async def tracked(name, by=1):
    global calls
    calls += 1
    history.append(name)
    return await increment(name=name, by=by)

for name in "abca":
    last = await tracked(name, by=2)
print(calls, file=sys.stderr)
print(f"{calls} calls, last {last}")
return history
