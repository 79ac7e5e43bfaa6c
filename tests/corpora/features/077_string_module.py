import string
template = string.Template("Dear $name, you owe $$${amount}")
return [
    string.ascii_lowercase[:5], string.digits, template.substitute(name="Ada", amount=5),
    "".join(c for c in "a-b!c" if c not in string.punctuation), string.capwords("the sea"),
]
