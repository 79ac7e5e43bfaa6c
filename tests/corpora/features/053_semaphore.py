limit = asyncio.Semaphore(2)
running, most = 0, 0

async def one(number):
    global running, most
    async with limit:
        running += 1
        most = max(most, running)
        issue = await github.get_issue(number=number)
        running -= 1
        return issue["title"]

titles = await asyncio.gather(*[one(n) for n in range(1, 6)])
return [titles, most <= 2]
