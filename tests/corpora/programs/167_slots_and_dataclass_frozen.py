from dataclasses import dataclass, FrozenInstanceError

@dataclass(frozen=True)
class Coordinates:
    lat: float
    lon: float

place = Coordinates(59.9, 10.7)
try:
    place.lat = 0
except FrozenInstanceError:
    print("frozen")
return [place == Coordinates(59.9, 10.7), {place: "Oslo"}[Coordinates(59.9, 10.7)], str(place)]
