template = r"\1x"
end = "px"
return [re.sub(r"(\d)", template, "1 2"), re.sub(r"(\d)", rf"\1{end}", "1 2")]
