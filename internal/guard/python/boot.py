"""First Python code of the template interpreter, passed to it with -c.

Reads the rest of the guard from descriptor 4: one JSON document with the
configuration and the sources, so that nothing of it has to be readable on disk
by the user that the interpreter runs as.
"""

import sys

started_with = set(sys.modules)  # what any Python program finds loaded

import builtins
import json
import os
import types

CONTROL, BOOT = 3, 4

with os.fdopen(BOOT, "rb") as pipe:
    boot = json.loads(pipe.read())

# The guard's modules see each other under their own names only while they load.
# Afterwards no name leads to them.
# They have builtins of their own, which no snippet that runs before them can change.
own = dict(vars(builtins))
for name, source in boot["sources"]:
    module = types.ModuleType("cloche_" + name)
    module.__dict__["__builtins__"] = own
    sys.modules[module.__name__] = module
    exec(compile(source, "<cloche>/" + name + ".py", "exec", dont_inherit=True), module.__dict__)
main = module.main
for name, _ in boot["sources"]:
    del sys.modules["cloche_" + name]

main(boot["config"], CONTROL, started_with)
