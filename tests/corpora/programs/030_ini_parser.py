import configparser

parser = configparser.ConfigParser()
parser.read_string((await read_file(path="config/settings.ini"))["content"])
return {
    "sections": parser.sections(),
    "port": parser.getint("server", "port"),
    "rate": parser.getfloat("limits", "rate"),
    "missing": parser.get("server", "name", fallback="none"),
}
