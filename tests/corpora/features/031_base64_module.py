import base64
encoded = base64.b64encode("Grüße".encode()).decode()
return [encoded, base64.b64decode(encoded).decode(), base64.urlsafe_b64encode(b"\xff\xfe").decode()]
