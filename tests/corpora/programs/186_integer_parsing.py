raw = ["42", " 7 ", "0x1f", "3.5", "", "12abc", "-8", "1_000"]
good, bad = [], []
for text in raw:
    try:
        good.append(int(text))
    except ValueError as error:
        bad.append(str(error))
return [good, bad]
