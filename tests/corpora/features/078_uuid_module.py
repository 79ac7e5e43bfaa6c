import uuid
a = uuid.uuid5(uuid.NAMESPACE_DNS, "ships.test")
b = uuid.uuid4()
return [str(a), a.version, len(str(b)), uuid.UUID(str(b)) == b, str(b) != str(uuid.uuid4())]
