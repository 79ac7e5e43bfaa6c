from abc import ABC, abstractmethod

class Source(ABC):
    @abstractmethod
    async def load(self): ...

class Weather(Source):
    def __init__(self, city):
        self.city = city
    async def load(self):
        return await temperature(city=self.city)

try:
    Source()
except TypeError as error:
    refused = "abstract" in str(error)
return [refused, await Weather("Quito").load()]
