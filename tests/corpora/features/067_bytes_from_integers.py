data = bytes([72, 105, 33])
more = bytearray(b"abc")
more[0] = 65
return [data.decode(), data.hex(), list(data), more.decode(), bytes.fromhex("4f4b").decode(), int.from_bytes(b"\x01\x00", "big"), (258).to_bytes(2, "big").hex()]
