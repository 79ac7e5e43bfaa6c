"""Where one of several fails, the others go on."""


async def refuse():
    raise ValueError("no")


async def count():
    return await increment(name="gathered")


try:
    await asyncio.gather(refuse(), count())
except ValueError as error:
    print("caught", error)
return await increment(name="alone")
