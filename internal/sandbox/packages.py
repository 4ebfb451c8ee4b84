# A snippet that lists what it can import besides the standard library, as JSON.
import sys

loaded = {name.partition(".")[0] for name in sys.modules}

import json, os, re

MOST, LENGTH = 500, 100  # packages, characters of each text
IGNORED = {"sitecustomize", "usercustomize"}


def usable(name):
    return (name.isascii() and name.isidentifier() and len(name) <= LENGTH and not name.startswith("_")
            and name not in sys.stdlib_module_names and name not in IGNORED)


def short(text):
    return re.sub(r"[^!-~]", "", text)[:LENGTH]


def recorded(record, suffixes):
    """The modules that a RECORD names: the first part of the path of each file of code."""
    for line in record.splitlines():
        path = line.split(",", 1)[0]
        if path.endswith(suffixes):
            yield path.split("/", 1)[0].split(".", 1)[0]


def described(distribution):
    """Name and version, from the head of what may be a long text."""
    text = (distribution.read_text("METADATA") or distribution.read_text("PKG-INFO")
            or distribution.read_text("") or "").split("\n\n", 1)[0]
    fields = dict(re.findall(r"^(Name|Version):[ \t]*(.*)$", text, re.MULTILINE))
    return short(fields.get("Name", "")), short(fields.get("Version", ""))


def installed():
    """Pairs of a module and its distribution's name and version, both empty where it has none."""
    from importlib import machinery, metadata
    from pkgutil import iter_modules

    library = os.path.dirname(os.__file__)
    folders = [f for f in sys.path[1:] if f not in (library, library + "/lib-dynload") and os.path.isdir(f)]
    modules = {m.name for m in iter_modules(folders)}
    suffixes = (".py", *machinery.EXTENSION_SUFFIXES)
    owned = set()
    for distribution in metadata.distributions(path=folders):
        try:
            names = (distribution.read_text("top_level.txt") or "").split()
            names = set(names or recorded(distribution.read_text("RECORD") or "", suffixes))
            told = described(distribution)
        except ValueError:  # what tells of it is not text: its modules are found all the same
            continue
        for name in names:
            if name in modules or any(os.path.isdir(f"{f}/{name}") for f in folders):
                owned.add(name)
                yield name, *told
    for name in modules - owned:
        yield name, "", ""


try:
    found = {p for p in installed() if usable(p[0])}
except OSError:  # no file can be opened here: what is loaded is all there is
    found = set()
for name in loaded - {p[0] for p in found} - {"__main__"}:
    if usable(name):
        found.add((name, "", short(str(getattr(sys.modules.get(name), "__version__", "")))))
found = sorted(found, key=lambda p: (p[0].lower(), p))
print(json.dumps({"list": [{"module": m, "distribution": d, "version": v, "preloaded": m in loaded}
                           for m, d, v in found[:MOST]], "omitted": max(0, len(found) - MOST)}))
