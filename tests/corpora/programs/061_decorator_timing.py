import functools

calls = []

def recorded(function):
    @functools.wraps(function)
    async def inner(*args, **kwargs):
        calls.append(function.__name__)
        return await function(*args, **kwargs)
    return inner

@recorded
async def weather(city):
    return await temperature(city=city)

@recorded
async def spread(a, b):
    return abs(await weather(a) - await weather(b))

result = await spread("Oslo", "Cairo")
return {"result": result, "calls": calls}
