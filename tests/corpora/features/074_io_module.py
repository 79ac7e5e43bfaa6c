import io
buffer = io.StringIO()
buffer.write("first\n")
print("second", file=buffer)
buffer.seek(0)
lines = [line.strip() for line in buffer]
raw = io.BytesIO(b"abc")
return [lines, buffer.getvalue(), raw.read(2).decode()]
