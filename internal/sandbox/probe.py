import json, os, sys

# Old versions run this too, so that they can be named in the refusal.
found = {"executable": sys.executable, "version": "%d.%d.%d" % sys.version_info[:3],
         "major": sys.version_info[0], "minor": sys.version_info[1]}
if sys.version_info >= (3, 11):
    import sysconfig
    trees = set(sys.path) | {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
    trees |= {os.path.realpath(t) for t in trees}
    trees.discard("")
    files = {sys.executable, os.path.realpath(sys.executable), sys.prefix + "/pyvenv.cfg",
             "/etc/ld.so.cache", "/etc/localtime", "/etc/mime.types"}
    custom = sys.modules.get("sitecustomize")
    if custom is not None and getattr(custom, "__file__", None):
        files.add(os.path.realpath(custom.__file__))
    # The folders of the shared libraries that extension modules bring in.
    for name in ("ssl", "sqlite3", "lzma", "bz2", "ctypes", "decimal"):
        try:
            __import__(name)
        except ImportError:
            pass
    libraries = set()
    with open("/proc/self/maps") as maps:
        for line in maps:
            path = line.split(None, 5)[5].strip() if line.count("/") else ""
            if path.startswith("/") and ".so" in os.path.basename(path):
                libraries.add(os.path.dirname(path))
    found["read_trees"] = sorted(t for t in trees | libraries if t != "/")
    found["read_files"] = sorted(f for f in files if os.path.isfile(f))
    found["run_trees"] = sorted(libraries)
print(json.dumps(found))
