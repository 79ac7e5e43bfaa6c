text = re.sub("\n", "\\n", "one\ntwo")
return [text, len(text)]
