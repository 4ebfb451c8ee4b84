"""The import policy, for user code only.

User code runs with its own copy of the builtins whose __import__ asks the
policy. Library code keeps the real one, so that what it imports for itself
works. Modules in the work folder are user code as well.
"""

import builtins
import os
import sys
import types
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, FileFinder, SourceFileLoader


class Policy:
    """The rules of one run: a module's own rule or that of a package above it."""

    def __init__(self, mode, rules):
        self._allow = mode == "allow"
        self.denies = not self._allow
        self._rules = types.MappingProxyType(dict(rules))

    def why_not(self, module):
        """Why user code may not import module; None if it may."""
        name = module
        while name:
            if name in self._rules:
                return None if self._allow else self._rules[name]
            name = name.rpartition(".")[0]
        return "is not on the list of allowed modules" if self._allow else None


def guarded_builtins(ledger):
    """A copy of the builtins for user code; arm_imports gives it its __import__."""
    module = types.ModuleType("builtins", builtins.__doc__)
    module.__dict__.update(builtins.__dict__)

    def breakpointhook(*_args, **_kwargs):
        ledger.refuse_operation("breakpoint", "debugging, where nobody can type,")

    sys.breakpointhook = breakpointhook
    return module


class Absent(types.ModuleType):
    """A module that is refused when it is used."""

    def __init__(self, name, ledger, why):
        super().__init__(name)
        self.__dict__["__getattr__"] = lambda _attribute: ledger.refuse_import(name, why)


class WorkFolder:
    """Where the user's own modules are; a child fills it in."""

    path = ""


def arm_imports(guarded, policy, ledger, folder, paths):
    """Put the guarded __import__ into the copy of the builtins."""
    real, loaded, library = builtins.__import__, sys.modules, sys.stdlib_module_names
    exists = os.path.exists

    def own(root):
        """Whether root is a module of the work folder that nothing else shadows."""
        if root in library:
            return False
        if root in loaded:
            return getattr(loaded[root], "__builtins__", None) is guarded
        return exists(f"{folder.path}/{root}.py") or exists(f"{folder.path}/{root}/__init__.py")

    def check(module):
        why, root = policy.why_not(module), module.partition(".")[0]
        if why is not None and not own(root):
            ledger.refuse_import(module, why)
        if root not in library:
            paths.native = True  # a preloaded package brings its C code without an event

    def for_itself(name, globals, locals, fromlist):
        """A stand-in for a module that C code imports for itself; None for any other import.

        PyImport_Import calls the __import__ that it finds, and then takes the module from sys.modules,
        whatever it was given. Who forges its call has what refuses as soon as it is used.
        """
        if type(fromlist) is not list or fromlist or globals is not locals or name not in loaded:
            return None
        why = policy.why_not(name)
        return why and Absent(name, ledger, why)

    def __import__(name, globals=None, locals=None, fromlist=(), level=0):
        if type(name) is not str:
            raise TypeError("module name must be a plain string")
        if level == 0:
            absent = for_itself(name, globals, locals, fromlist)
            if absent:
                return absent
            check(name)
            if name == "builtins":
                return guarded
            for item in fromlist or ():
                if type(item) is str and item != "*":
                    check(f"{name}.{item}")
        module = real(name, globals, locals, fromlist, level)
        if level != 0:  # a forged __package__ must not lead around the policy
            check(getattr(module, "__name__", name))
        return module

    guarded.__import__ = __import__


def work_folder_hook(folder, guarded, ledger):
    """A sys.path_hooks entry that loads the work folder's modules as user code."""

    class UserLoader(SourceFileLoader):
        def get_code(self, fullname):  # no byte code: what is written is what runs
            path = self.get_filename(fullname)
            return self.source_to_code(self.get_data(path), path[len(folder.path) + 1:])

        def exec_module(self, module):
            module.__dict__["__builtins__"] = guarded
            super().exec_module(module)

    class NativeLoader(ExtensionFileLoader):
        def create_module(self, spec):
            ledger.refuse_import(spec.name, "is native code in the work folder")

    def hook(path):
        if not folder.path or path != folder.path and not path.startswith(folder.path + "/"):
            raise ImportError("not the work folder", path=path)
        return FileFinder(path, (NativeLoader, EXTENSION_SUFFIXES), (UserLoader, [".py"]))

    return hook
