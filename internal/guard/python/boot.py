"""First code of the template interpreter: makes modules of the guard's sources and starts it.

It comes with them in one JSON document on descriptor 4, which the line after -c
reads, so that nothing of it has to be readable on disk by the user that the
interpreter runs as. That line leaves `boot`, the document, and `started_with`,
the modules that any Python program finds loaded.
"""

import builtins
import sys
import types

CONTROL = 3

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
