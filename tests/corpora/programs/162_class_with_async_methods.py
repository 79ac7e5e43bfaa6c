class Client:
    def __init__(self, team):
        self.team = team
        self.requests = 0

    async def members(self):
        self.requests += 1
        return await list_users(team=self.team)

    async def names(self):
        return [m["name"] for m in await self.members()]

    async def manager_of(self, name):
        for member in await self.members():
            if member["name"] == name and member["manager"]:
                self.requests += 1
                return (await get_user(id=member["manager"]))["name"]
        return None

web = Client("web")
print(await web.names())
return [await web.manager_of("Di Ross"), await web.manager_of("Ada Vik"), web.requests]
