import struct
packed = struct.pack(">IhB", 1026, -2, 255)
return [packed.hex(), list(struct.unpack(">IhB", packed)), struct.calcsize("<Qi")]
