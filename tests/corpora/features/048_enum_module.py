from enum import Enum, IntEnum, auto

class Status(Enum):
    OPEN = "open"
    PAID = "paid"

class Level(IntEnum):
    LOW = auto()
    HIGH = auto()

orders = await find_orders(customer="bo")
states = [Status(o["status"]).name for o in orders]
return [states, Status.OPEN.value, Level.HIGH > Level.LOW, int(Level.HIGH), [s.value for s in Status], Status["PAID"] is Status.PAID]
