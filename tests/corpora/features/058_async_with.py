log = []
class Connection:
    async def __aenter__(self):
        log.append("open")
        return self
    async def __aexit__(self, *problem):
        log.append("close")
        return False
    async def query(self, city):
        return await temperature(city=city)

async with Connection() as connection:
    log.append(await connection.query("Kyiv"))
return log
