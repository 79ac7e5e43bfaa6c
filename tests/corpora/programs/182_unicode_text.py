text = "Grüße aus Tromsø – 東京 🚢"
print(text)
print(len(text), len(text.encode("utf-8")), text.upper())
return {"reversed": text[::-1], "ascii": ascii("ø🚢"), "ords": [ord(c) for c in "aé🚢"], "chars": [chr(0x416), "\u00e9", "\N{SNOWMAN}"]}
