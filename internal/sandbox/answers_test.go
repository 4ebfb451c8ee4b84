package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"cloche/internal/snippet"
)

// Code that is right must do what plain Python does: a case is a line of code and
// what it prints.
func TestOrdinaryCode(t *testing.T) {
	s := shared.get(t)
	for _, c := range []struct{ name, code, stdout string }{
		{"library that imports denied modules", "import json, tempfile, logging, zipfile, random, glob\nprint(json.dumps([1]), random.Random(1).randint(1, 1))", "[1] 1\n"},
		{"future import behind a docstring", "'words'\nfrom __future__ import annotations\ndef f(x: Missing): return x\nprint(__doc__, f.__annotations__)", "words {'x': 'Missing'}\n"},
		{"functions that call each other", "def a(n): return n and b(n - 1)\ndef b(n): return n and a(n - 1)\nprint(a(300))", "0\n"},
		{"names of the top level in every scope", "n = 2\nclass K:\n    v = [n * i for i in range(3)]\n    def m(self): return {i: n for i in range(2)}\nprint(K.v, K().m(), (lambda: n)())", "[0, 2, 4] {0: 2, 1: 2} 2\n"},
		{"main guard", "if __name__ == '__main__':\n    print('main')", "main\n"},
		{"one namespace", "v = 7\nprint(locals() is globals(), globals()['v'], vars()['v'])", "True 7 7\n"},
		{"pickle of an own class", "import pickle\nclass Box:\n    def __init__(self, v): self.v = v\nprint(pickle.loads(pickle.dumps([Box(3)]))[0].v)", "3\n"},
		{"copy of an own class", "import copy, dataclasses, enum\nclass E(enum.Enum):\n    A = 1\n@dataclasses.dataclass(frozen=True)\nclass P:\n    e: E\nprint(copy.deepcopy(P(E.A)) == P(E.A))", "True\n"},
		{"tests in main", "import io, unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertTrue(1)\nr = unittest.main(argv=['x'], exit=False, testRunner=unittest.TextTestRunner(io.StringIO())).result\nprint(r.testsRun, r.wasSuccessful())", "1 True\n"},
		{"event loop", "import asyncio\nasync def f(n):\n    await asyncio.sleep(0)\n    return n\nasync def main():\n    async with asyncio.timeout(3):\n        return await asyncio.gather(*map(f, range(3)))\nprint(asyncio.run(main()))", "[0, 1, 2]\n"},
		{"work in the loop's threads", "import asyncio\nprint(asyncio.run(asyncio.to_thread(sum, [1, 2])))", "3\n"},
		{"asynchronous generators", "import asyncio\nasync def g():\n    try:\n        for i in range(9): yield i\n    finally: print('closed')\nasync def main():\n    async for i in g():\n        if i == 2: return i\nprint(asyncio.run(main()))", "closed\n2\n"},
		{"pool of threads", "from concurrent.futures import ThreadPoolExecutor as P\nwith P(6) as p: print(sum(p.map(lambda i: i * i, range(20))))", "2470\n"},
		{"daemon thread", "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\nprint('on')", "on\n"},
		{"thread that outlives the last line", "import threading, time\ndef f():\n    time.sleep(0.05)\n    print('late')\nthreading.Thread(target=f).start()\nprint('last')", "last\nlate\n"},
		{"atexit in reverse", "import atexit\natexit.register(print, 'two')\natexit.register(print, 'one')\nprint('zero')", "zero\none\ntwo\n"},
		{"exit without a fault", "print('a')\nexit()", "a\n"},
		{"exit with zero", "import sys\nprint('a')\nsys.exit(0)", "a\n"},
		{"large integers", "print(len(str(7 ** 5000)))", "4226\n"},
		{"decimal contexts", "from decimal import Decimal as D, localcontext\nwith localcontext(prec=4): a = D(2) / 3\nprint(a, D('1.1') + D('2.2'))", "0.6667 3.3\n"},
		{"random bytes", "import secrets, uuid, random, hashlib\nprint(len(secrets.token_bytes(9)), uuid.uuid4().version, len(random.randbytes(3)), hashlib.sha256(b'').hexdigest()[:6])", "9 4 3 e3b0c4\n"},
		{"time zones", "from datetime import datetime as D\nfrom zoneinfo import ZoneInfo as Z\nprint(D(2023, 1, 2, 3, tzinfo=Z('Asia/Kolkata')).isoformat(), D(2023, 7, 1, tzinfo=Z('Europe/Rome')).tzname())", "2023-01-02T03:00:00+05:30 CEST\n"},
		{"lazy import by C code", "import datetime, time\nprint(datetime.datetime.strptime('05 Mar 23', '%d %b %y').month, time.strptime('12', '%H').tm_hour)", "3 12\n"},
		{"words that look like denied modules", "# import os\nos = {'system': 'os.system'}\nsocket = 'import socket'\nprint(os['system'], socket, 'subprocess.run')", "os.system import socket subprocess.run\n"},
		{"introspection", "class A:\n    def m(self, a, b=1): 'doc'\nimport inspect\nprint(inspect.signature(A.m), A.m.__code__.co_argcount, A.__mro__[-1].__name__, A.m.__doc__)", "(self, a, b=1) 3 object doc\n"},
		{"eval, exec and compile", "d = {}\nexec('def f(): return 6', d)\nprint(eval('d[\"f\"]() * 7'), eval(compile('1+1', 'x', 'eval')))", "42 2\n"},
		{"names of the harness and of builtins", "run = code = source = sys = os = job = end = 1\nprint_, str, len, list, open, Exception = print, 1, 2, 3, 4, 5\nprint_(run, str, len)", "1 1 2\n"},
		{"byte order mark", "\ufeffprint('first')", "first\n"},
		{"carriage returns", "# a comment\rprint('two')\r\nprint('three')\r", "two\nthree\n"},
		{"form feed and no last newline", "#!/usr/bin/env python\n\fprint('ff')\n# the end", "ff\n"},
		{"names beyond ASCII", "größe = 3\nπ = 2\nprint(größe * π, 'ſ'.isidentifier())", "6 True\n"},
		{"invisible direction marks", "a = 'x\u202e\u2066y'\nprint(len(a), a == 'xy')", "4 False\n"},
		{"quotes and escapes", "print('''a\"b''' r'\\d' \"{x}\" f'{1+1}' '%s' '$HOME' '\\N{DAGGER}')", "a\"b\\d{x}2%s$HOME†\n"},
		{"unused denied import", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import multiprocessing\ndef never():\n    from http import server\n    import pty\nif False: import ctypes\nprint('fine')", "fine\n"},
		{"dynamic import", "print(__import__('math').floor(2.5), __import__('xml.dom', fromlist=['x']).__name__)", "2 xml.dom\n"},
		{"platform", "import platform\nprint(platform.system(), platform.python_implementation())", "Linux CPython\n"},
		{"print's arguments", "import sys\nprint(1, 2, sep='/', end='.', flush=True)\nprint('no', file=sys.stderr)\nprint()", "1/2.\n"},
		{"no newline of ours", "print('bare', end='')", "bare"},
		{"blank lines and spaces", "print('\\n\\n  x\\t \\n')", "\n\n  x\t \n\n"},
		{"control characters", "print('a\\0b\\x1b[1mc\\x07\\x7f')", "a\x00b\x1b[1mc\a\x7f\n"},
		{"text beyond ASCII", "print('żółw ✓ 漢 🐢', 'e\\u0301')", "żółw ✓ 漢 🐢 e\u0301\n"},
		{"character in pieces", "import sys, time\nfor b in '🐢é'.encode():\n    sys.stdout.buffer.raw.write(bytes([b]))\n    time.sleep(0.01)", "🐢é"},
		{"bytes that are no text", "import sys\nsys.stdout.buffer.write(b'a\\xff\\xc3b\\n')", "a\ufffd\ufffdb\n"},
		{"captured output", "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()) as b: print('in')\nprint('out', b.getvalue())", "out in\n\n"},
		{"stream set to nothing", "import sys\nprint('one')\nsys.stdout = None\nprint('none')\nsys.stderr = None", "one\n"},
		{"stream closed", "import sys\nprint('one')\nsys.stdout.close()", "one\n"},
		{"encodings", "import locale, sys\nopen('f', 'w').write('ß')\nprint(open('f', 'rb').read(), sys.stdin.encoding, sys.getfilesystemencoding(), locale.getpreferredencoding(False).lower())\n__import__('pathlib').Path('f').unlink()", "b'\\xc3\\x9f' utf-8 utf-8 utf-8\n"},
		{"asserts are on", "try:\n    assert not 1, 'on'\nexcept AssertionError as e: print(e, __debug__)", "on True\n"},
		{"no file of its own", "try:\n    __file__\nexcept NameError: print('none')", "none\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := s.run(t, job(c.code))
			wellFormed(t, r)
			if r.Outcome != snippet.OK || r.Stdout != c.stdout {
				t.Errorf("%s (%s), stdout %q, want %q; stderr %q", r.Outcome, r.Reason, r.Stdout, c.stdout, r.Stderr)
			}
		})
	}
}

// An exception is told with the line of the snippet and with no frame of the
// harness or the library, wherever it came from.
func TestWhereItFailed(t *testing.T) {
	s := shared.get(t)
	module := []snippet.File{{Path: "helper/mod.py", Content: []byte("def fail():\n    raise KeyError('there')\n")}, {Path: "helper/__init__.py"}}
	for _, c := range []struct {
		name, code, kind string
		line             int
		shows            []string // in the traceback, and on stderr
	}{
		{"own function", "x = 0\ndef half():\n    return 1 / x\nhalf()", "ZeroDivisionError", 3, []string{`File "<snippet>", line 4, in <module>`, "line 3, in half", "return 1 / x"}},
		{"library called", "import json\njson.loads('{')", "json.decoder.JSONDecodeError", 2, []string{"line 2, in <module>", "json.loads('{')"}},
		{"called by the library", "import re\ndef sub(m):\n    return m.nope\nre.sub('a', sub, 'a')", "AttributeError", 3, []string{"line 4, in <module>", "line 3, in sub"}},
		{"uploaded module", "import helper.mod\n\nhelper.mod.fail()", "KeyError", 3, []string{`File "helper/mod.py", line 2, in fail`, "raise KeyError('there')"}},
		{"compiled text", "exec('\\n1/0')", "ZeroDivisionError", 1, []string{`File "<string>", line 2`}},
		{"event loop", "import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    raise OSError('gone')\nasyncio.run(f())", "OSError", 4, []string{"line 5, in <module>", "line 4, in f"}},
		{"generator and comprehension", "def g():\n    yield 1\n    yield [][0]\n[v for v in g()]", "IndexError", 3, []string{"in g"}},
		{"raised from another", "try:\n    int('q')\nexcept ValueError as e:\n    raise RuntimeError('outer') from e", "RuntimeError", 4, []string{"int('q')", "direct cause"}},
		{"raised while handling", "import json\ntry:\n    json.loads('')\nexcept ValueError:\n    None.x", "AttributeError", 5, []string{"JSONDecodeError", "During handling"}},
		{"group", "def f():\n    raise ExceptionGroup('both', [ValueError('one'), TypeError('two')])\nf()", "ExceptionGroup", 2, []string{"ValueError: one", "TypeError: two"}},
		{"with a note", "e = ValueError('v')\ne.add_note('look here')\nraise e", "ValueError", 3, []string{"look here"}},
		{"exception of its own", "class Odd(Exception): pass\nraise Odd('x')", "Odd", 2, []string{"Odd: x"}},
		{"interrupt", "raise KeyboardInterrupt", "KeyboardInterrupt", 1, []string{"KeyboardInterrupt"}},
		{"last expression", "v = 1\n\nv.nope", "AttributeError", 3, []string{"v.nope"}},
		{"repr of the last expression", "class R:\n    def __repr__(self):\n        raise ValueError('no repr')\nR()", "ValueError", 3, []string{"in __repr__"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := job(c.code)
			j.Request.Files = module
			r := s.run(t, j)
			wellFormed(t, r)
			e := failure(r)
			if r.Reason != snippet.Exception || e.Type != c.kind || orNull(e.Line) != fmt.Sprint(c.line) || orNull(r.ExitCode) != "1" {
				t.Errorf("%s %s at line %s, exit %s; want %s at line %d", r.Reason, e.Type, orNull(e.Line), orNull(r.ExitCode), c.kind, c.line)
			}
			for _, text := range c.shows {
				if !strings.Contains(e.Traceback, text) || !strings.Contains(r.Stderr, text) {
					t.Errorf("%q is not in the traceback and on stderr:\n%s\n%s", text, e.Traceback, r.Stderr)
				}
			}
			noHostPaths(t, s, r.Stderr)
		})
	}
}

// noHostPaths looks for what only the machine's own files are called.
func noHostPaths(t *testing.T, s *Sandbox, text string) {
	t.Helper()
	for _, own := range append([]string{s.base, "<cloche>"}, s.python.ReadTrees...) {
		if strings.Contains(text, own) {
			t.Errorf("%q is shown:\n%s", own, text)
		}
	}
}

// A syntax error is at the line where the user sees it.
func TestSyntaxErrorLine(t *testing.T) {
	s := shared.get(t)
	for _, c := range []struct {
		name, code string
		line       int
		kind       string
	}{
		{"first line", "x = = 1", 1, "SyntaxError"},
		{"last line", "a = 1\nb = 2\nc = )", 3, "SyntaxError"},
		{"behind a byte order mark", "\ufeff\nb = )", 2, "SyntaxError"},
		{"behind carriage returns", "a = 1\r\nb = 2\r\nc = )\r\n", 3, "SyntaxError"},
		{"behind a form feed and a cookie", "# -*- coding: latin-1 -*-\n\f\nc = )", 3, "SyntaxError"},
		{"indentation", "def f():\nreturn 1", 2, "IndentationError"},
		{"tabs and spaces", "if 1:\n\ta = 1\n        b = 2", 3, "TabError"},
		{"bracket never closed", "a = 1\nb = (1,\nc = 2\n", 2, "SyntaxError"},
		{"text never closed", "a = 1\nb = '''\nc\n", 2, "SyntaxError"},
		{"Python 2", "x = 1\nprint 'x'", 2, "SyntaxError"},
		{"shell line", "x = 1\n!ls", 2, "SyntaxError"},
		{"magic line", "%pip install x", 1, "SyntaxError"},
		{"await at the top", "import asyncio\nawait asyncio.sleep(0)", 2, "SyntaxError"},
		{"return at the top", "x = 1\nreturn x", 2, "SyntaxError"},
		{"late future import", "x = 1\nfrom __future__ import annotations", 2, "SyntaxError"},
		{"found by the symbol table", "def f():\n    x = 1\n    global x", 3, "SyntaxError"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := s.run(t, job(c.code))
			wellFormed(t, r)
			e := failure(r)
			if r.Reason != snippet.SyntaxError || orNull(e.Line) != fmt.Sprint(c.line) || e.Type != c.kind || r.Stdout != "" || orNull(r.ExitCode) != "1" {
				t.Errorf("%s %s at line %s, want %s at %d; stdout %q", r.Reason, e.Type, orNull(e.Line), c.kind, c.line, r.Stdout)
			}
			if want := fmt.Sprintf("File \"<snippet>\", line %d", c.line); !strings.Contains(r.Stderr, want) {
				t.Errorf("stderr lacks %q:\n%s", want, r.Stderr)
			}
			noHostPaths(t, s, r.Stderr)
		})
	}
}

// Text that UTF-8 cannot carry must not lose an answer, wherever it appears.
func TestTextThatUTF8CannotCarry(t *testing.T) {
	s := shared.get(t)
	for name, code := range map[string]string{
		"stdout":             "print('a' + chr(0xD800))",
		"stdout's end":       "print('ok')\nprint(chr(0xDFFF), end='')",
		"stderr":             "import sys\nprint('a' + chr(0xD800), file=sys.stderr)",
		"value":              "type('T', (), {'__repr__': lambda s: 'v' + chr(0xD800)})()",
		"message":            "raise ValueError('m' + chr(0xDC80))",
		"type":               "raise type('E' + chr(0xD800), (Exception,), {})('x')",
		"module of a type":   "raise type('E', (Exception,), {'__module__': 'm' + chr(0xD800)})('x')",
		"note":               "e = ValueError('x')\ne.add_note(chr(0xD801))\nraise e",
		"exit message":       "raise SystemExit('bye' + chr(0xD800))",
		"denied import":      "try:\n    __import__('os.' + chr(0xD800))\nexcept BaseException: pass",
		"denied path":        "try:\n    open('/etc/' + chr(0xDC80))\nexcept OSError: pass",
		"name of a file":     "open(b'n\\xff\\xfe', 'w').close()",
		"name of a folder":   "import pathlib\npathlib.Path('d' + chr(0xDC80)).mkdir()\npathlib.Path('d' + chr(0xDC80), 'f').write_text('x')",
		"name of a code":     "exec(compile('1/0', 'f' + chr(0xDC80), 'exec'))",
		"compiled text":      "eval(\"'\" + chr(0xD800))",
		"warning":            "import warnings\nwarnings.warn('w' + chr(0xD800))",
		"uncaught elsewhere": "import threading\nt = threading.Thread(target=lambda: [].pop(), name='t' + chr(0xD800))\nt.start()\nt.join()",
	} {
		t.Run(name, func(t *testing.T) {
			r := s.run(t, job(code))
			wellFormed(t, r)
			if r.Reason == snippet.SandboxFailure || r.Reason == snippet.Deadline {
				t.Errorf("%s (%s)", r.Outcome, r.Reason)
			}
			noHarness(t, r)
			text, err := json.Marshal(r)
			var back map[string]any
			if err != nil || !utf8.Valid(text) || json.Unmarshal(text, &back) != nil {
				t.Errorf("no valid JSON: %v", err)
			}
		})
	}
}

// noHarness: a fault of the harness would be told on the snippet's stderr.
func noHarness(t *testing.T, r snippet.Result) {
	t.Helper()
	if strings.Contains(r.Stderr, "<cloche>") {
		t.Errorf("the harness failed:\n%s", r.Stderr)
	}
}

// What user code leaves behind can fail in the hands of the harness. The end of
// the run must be told all the same.
func TestHostileEnds(t *testing.T) {
	s := shared.get(t)
	const boom = "def boom(*a, **k): raise RuntimeError('boom')\n"
	for name, c := range map[string]struct {
		code    string
		reasons []snippet.Reason
	}{
		"text of an exception":    {"class E(Exception):\n    __str__ = __repr__ = boom\nraise E", []snippet.Reason{snippet.Exception}},
		"traceback of one":        {"class E(Exception):\n    __traceback__ = property(boom, boom)\nraise E", []snippet.Reason{snippet.Exception}},
		"cause of one":            {"class E(Exception):\n    __cause__ = __context__ = property(boom)\nraise E", []snippet.Reason{snippet.Exception}},
		"class of one":            {"class E(Exception):\n    __class__ = property(boom)\nraise E", []snippet.Reason{snippet.Exception}},
		"every attribute of one":  {"class E(Exception):\n    __getattribute__ = boom\nraise E", []snippet.Reason{snippet.Exception}},
		"names of its type":       {"class M(type):\n    __getattribute__ = boom\nclass E(Exception, metaclass=M): pass\nraise E", []snippet.Reason{snippet.Exception}},
		"parts of a group":        {"class G(ExceptionGroup):\n    exceptions = property(boom)\nraise G('g', [ValueError()])", []snippet.Reason{snippet.Exception}},
		"notes of one":            {"e = ValueError()\ne.__notes__ = 5\nraise e", []snippet.Reason{snippet.Exception}},
		"causes in a circle":      {"a, b = ValueError('a'), ValueError('b')\na.__cause__, b.__cause__ = b, a\nraise a", []snippet.Reason{snippet.Exception}},
		"very many causes":        {"e = None\nfor i in range(5000):\n    n = ValueError(i)\n    n.__context__, e = e, n\nraise e", []snippet.Reason{snippet.Exception}},
		"exit code":               {"class S(SystemExit):\n    code = property(boom)\nraise S(3)", []snippet.Reason{snippet.ExitStatus, snippet.Exception}},
		"number as exit code":     {"class N(int):\n    __int__ = __index__ = __and__ = boom\nraise SystemExit(N(3))", []snippet.Reason{snippet.ExitStatus, snippet.Exception}},
		"text as exit code":       {"class T(str):\n    __str__ = __format__ = boom\nraise SystemExit(T('x'))", []snippet.Reason{snippet.ExitStatus, snippet.Exception}},
		"object as exit code":     {"class O:\n    __str__ = __repr__ = __format__ = boom\nraise SystemExit(O())", []snippet.Reason{snippet.ExitStatus, snippet.Exception}},
		"value that is no text":   {"class V:\n    def __repr__(self): return 5\nV()", []snippet.Reason{snippet.Exception}},
		"value that exits":        {"class V:\n    def __repr__(self): raise SystemExit(4)\nV()", []snippet.Reason{snippet.ExitStatus}},
		"text of another type":    {"class S(str):\n    __len__ = __getitem__ = encode = boom\nclass V:\n    def __repr__(self): return S('v')\nV()", []snippet.Reason{snippet.Completed, snippet.Exception}},
		"hook for exceptions":     {"import sys\nsys.excepthook = boom\n1/0", []snippet.Reason{snippet.Exception}},
		"hook that is nothing":    {"import sys\nsys.excepthook = None\n1/0", []snippet.Reason{snippet.Exception}},
		"hook that exits":         {"import sys\nsys.excepthook = lambda *a: sys.exit(5)\n1/0", []snippet.Reason{snippet.Exception}},
		"streams":                 {"import sys\nclass B:\n    write = flush = boom\nsys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = B()\n1/0", []snippet.Reason{snippet.Exception}},
		"deleted streams":         {"import sys\ndel sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__\n1/0", []snippet.Reason{snippet.Exception}},
		"at exit":                 {"import atexit\natexit.register(boom)", []snippet.Reason{snippet.Completed}},
		"exit at exit":            {"import atexit, sys\natexit.register(lambda: sys.exit(3))", []snippet.Reason{snippet.Completed}},
		"end of an object":        {"class D:\n    __del__ = boom\nd = D()", []snippet.Reason{snippet.Completed}},
		"modules of the harness":  {"import sys, traceback, linecache, io, types, builtins\nfor m in (traceback, linecache, types):\n    for n in list(vars(m)):\n        if not n.startswith('__'): setattr(m, n, boom)\nlinecache.cache = None\n1/0", []snippet.Reason{snippet.Exception}},
		"builtins of the library": {"import json\nb = json.__builtins__\nkeep = dict(b)\nfor n in ('isinstance', 'len', 'type', 'list', 'any', 'next', 'str', 'int', 'repr', 'getattr', 'reversed', 'iter', 'print', 'bytes'):\n    b[n] = boom\n1/0", []snippet.Reason{snippet.Exception, snippet.ExitStatus}},
		"every loaded module":     {"import sys\nsys.modules.clear()\n1/0", []snippet.Reason{snippet.Exception}},
		"recursion limit":         {"import sys\nsys.setrecursionlimit(60)\ndef f(): f()\nf()", []snippet.Reason{snippet.Exception}},
		"trace function":          {"import sys\nsys.settrace(boom)\nsys.setprofile(boom)\n1/0", []snippet.Reason{snippet.Exception}},
		"work folder":             {"import pathlib\npathlib.Path.cwd().rmdir()\n1/0", []snippet.Reason{snippet.Exception, snippet.OperationDenied}},
		"collector of garbage":    {"import gc\ngc.callbacks.append(boom)\ngc.set_threshold(1)\n1/0", []snippet.Reason{snippet.Exception}},
		"memory used up":          {"held = []\ntry:\n    while True: held.append('x' * 10000000)\nexcept MemoryError: pass\ntry:\n    while True: held.append('x' * 1000)\nexcept MemoryError: pass\n1/0", []snippet.Reason{snippet.Exception, snippet.MemoryLimit}},
		"lines that do not end":   {"exec(compile('\\n' * 100000 + '1/0', '<snippet>', 'exec'))", []snippet.Reason{snippet.Exception}},
	} {
		t.Run(name, func(t *testing.T) {
			r := s.run(t, job(boom+c.code))
			wellFormed(t, r)
			if !slices.Contains(c.reasons, r.Reason) {
				t.Errorf("%s (%s), want %v; stderr %q", r.Outcome, r.Reason, c.reasons, r.Stderr)
			}
			noHarness(t, r)
		})
	}
}

// A text that is much too long is cut in the middle: where it began and how it
// ended, which names the error, are kept.
func TestLongFailuresKeepBothEnds(t *testing.T) {
	s := shared.get(t)
	for name, c := range map[string]struct{ code, begin, end string }{
		"message":            {"raise ValueError('m' * 2_000_000 + ' the very end')", "Traceback", "the very end\n"},
		"message of lines":   {"raise ValueError('line\\n' * 400_000 + 'the very end')", "Traceback", "the very end\n"},
		"wide characters":    {"raise ValueError('漢' * 500_000 + 'the very end')", "Traceback", "the very end\n"},
		"object":             {"raise ValueError(list(range(300_000)), 'the very end')", "Traceback", "'the very end')\n"},
		"note":               {"e = ValueError('short')\ne.add_note('n' * 1_000_000 + ' the very end')\nraise e", "Traceback", "the very end\n"},
		"name":               {"raise type('N' * 100_000, (Exception,), {})('the very end')", "Traceback", "the very end\n"},
		"many causes":        {"e = None\nfor i in range(300):\n    n = ValueError('the very end' if i == 299 else 'inner')\n    n.__cause__, e = e, n\nraise e", "ValueError: inner", "the very end\n"},
		"deep recursion":     {"def f(n):\n    if n == 0: raise ValueError('the very end')\n    g(n)\ndef g(n): f(n - 1)\nf(300)", "Traceback", "the very end\n"},
		"large group":        {"raise ExceptionGroup('g', [ValueError('x' * 500 * i) for i in range(300)])", "  + Exception Group Traceback", "-------\n"},
		"line of the source": {"x = '" + strings.Repeat("s", 50_000) + "'; raise ValueError('the very end')", "Traceback", "the very end\n"},
		"printed by itself":  {"import sys\nsys.stderr.write('Traceback\\n' + 'p' * 3_000_000 + 'the very end\\n')\nraise SystemExit(1)", "Traceback", "the very end\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := s.run(t, job(c.code))
			wellFormed(t, r)
			if r.Outcome != snippet.Error || !r.StderrTruncated {
				t.Errorf("%s (%s), truncated %v", r.Outcome, r.Reason, r.StderrTruncated)
			}
			texts := []string{r.Stderr}
			if r.Error != nil {
				texts = append(texts, r.Error.Traceback)
			}
			for _, text := range texts {
				if !strings.HasPrefix(text, c.begin) || !strings.HasSuffix(text, c.end) {
					t.Errorf("%q ... %q, want %q ... %q", firstRunes(text, 60), lastRunes(text, 60), c.begin, c.end)
				}
			}
		})
	}
}

// Every content comes back as it was, with its size and hash.
func TestFilesComeBackExactly(t *testing.T) {
	s := shared.withFiles(t)
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	contents := map[string][]byte{
		"every_byte.bin": every,
		"empty.txt":      {},
		"zero.bin":       {0},
		"plain.txt":      []byte("plain\n"),
		"no_newline":     []byte("x"),
		"crlf.csv":       []byte("a,b\r\n1,2\r\n"),
		"cr.txt":         []byte("a\rb\r"),
		"bom.txt":        []byte("\xef\xbb\xbfx"),
		"utf16.txt":      []byte("\xff\xfea\x00"),
		"cut.txt":        []byte("caf\xc3"),
		"surrogate.txt":  []byte("\xed\xa0\x80"),
		"escape.txt":     []byte("\x1b[31m\x7f\u0085\u2028"),
		"html.html":      []byte("<script>&amp;</script>"),
		"wide.txt":       []byte("漢字🐢"),
		"png.png":        append([]byte("\x89PNG\r\n\x1a\n"), every...),
		"long.txt":       []byte(strings.Repeat("0123456789\n", 60_000)),
	}
	j := job("import pathlib\nfor p in sorted(pathlib.Path('in').iterdir()):\n    pathlib.Path(p.name).write_bytes(p.read_bytes())")
	for name, content := range contents {
		j.Request.Files = append(j.Request.Files, snippet.File{Path: "in/" + name, Content: content})
	}
	r := s.run(t, j)
	wellFormed(t, r)
	got := map[string]snippet.Artifact{}
	for _, a := range r.Files {
		got[a.Path] = a
	}
	if want := slices.Sorted(maps.Keys(contents)); !slices.Equal(slices.Sorted(maps.Keys(got)), want) {
		t.Fatalf("files %v, want %v; stderr %q", slices.Sorted(maps.Keys(got)), want, r.Stderr)
	}
	for name, content := range contents {
		a, sum := got[name], sha256.Sum256(content)
		if contentOf(t, a) != string(content) || a.Size != int64(len(content)) || orNull(a.SHA256) != hex.EncodeToString(sum[:]) {
			t.Errorf("%s: %d bytes, encoding %s, differs from the %d that were written", name, a.Size, a.Encoding, len(content))
		}
	}
}

// Names are returned in a form that can be read, each its own, whatever bytes
// they have.
func TestOddFileNames(t *testing.T) {
	s := shared.withFiles(t)
	names := []string{
		"\xff\xfe.bin", "caf\xc3", "new\nline.txt", "tab\there", "-rf", "--help", " lead", "trail ", "...", ".hidden", "~", "$HOME",
		"a\\b", "a:b", "*?", "\x01\x7f", "\x1b[31mred", "漢.txt", "e\u0301", "\u202egnp.exe", strings.Repeat("l", 255), "quote\"'`", "&<>.html",
	}
	code := "import pathlib\nfor line in open('names'):\n    with open(bytes.fromhex(line), 'w') as f: f.write(line.strip())\npathlib.Path('names').unlink()\nprint('named')"
	var list strings.Builder
	for _, n := range names {
		fmt.Fprintf(&list, "%x\n", n)
	}
	j := job(code)
	j.Request.Files = []snippet.File{{Path: "names", Content: []byte(list.String())}}
	r := s.run(t, j)
	wellFormed(t, r)
	if r.Stdout != "named\n" || len(r.Files)+r.FilesOmitted != len(names) {
		t.Fatalf("stdout %q, stderr %q, %d files of %d", r.Stdout, r.Stderr, len(r.Files)+r.FilesOmitted, len(names))
	}
	for _, a := range r.Files {
		raw, err := hex.DecodeString(contentOf(t, a))
		if err != nil {
			t.Fatal(err)
		}
		if name := string(raw); utf8.ValidString(name) && a.Path != name {
			t.Errorf("%q is called %q", name, a.Path)
		}
	}
}

// However many files there are and however large, the answer is bounded and says
// what it leaves out.
func TestManyAndLargeFiles(t *testing.T) {
	s := shared.withFiles(t)
	const many = "for i in range(%d):\n    open(f'f{i:05}', 'w').close()"
	for name, c := range map[string]struct {
		code          string
		reason        snippet.Reason
		with, without int  // entries with content and without
		atLeast       int  // files that are only counted
		exact         bool // atLeast is the number
		inputs        int
	}{
		"as many as fit":     {fmt.Sprintf(many, 64), snippet.Completed, 64, 0, 0, true, 0},
		"one more":           {fmt.Sprintf(many, 65), snippet.Completed, 64, 0, 1, true, 0},
		"hundreds":           {fmt.Sprintf(many, 300), snippet.Completed, 64, 0, 236, true, 0},
		"beyond the limit":   {fmt.Sprintf(many, 50_000), snippet.DiskLimit, 64, 0, 1000, false, 0},
		"one too large":      {"open('big', 'wb').write(bytes((3 << 20) + 1))\nopen('small', 'w').write('s')", snippet.Completed, 1, 1, 0, true, 0},
		"together too large": {"for i in range(5):\n    open(f'm{i}', 'wb').write(bytes(1 << 20))", snippet.Completed, 3, 2, 0, true, 0},
		"sparse":             {"with open('hole', 'wb') as f:\n    f.truncate(40 << 20)", snippet.Completed, 0, 1, 0, true, 0},
		"deep":               {"import pathlib\np = pathlib.Path(*'d' * 40)\np.mkdir(parents=True)\n(p / 'f').write_text('x')", snippet.Completed, 1, 0, 0, true, 0},
		"unchanged inputs":   {"print(1)", snippet.Completed, 0, 0, 0, true, 5},
		"unreadable":         {"import pathlib\np = pathlib.Path('p')\np.mkdir()\n(p / 'f').write_text('x')\n(p / 'f').chmod(0)\np.chmod(0)", snippet.Completed, 1, 0, 0, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			j := job(c.code)
			j.Request.Timeout = probeTimeout
			for i := range c.inputs {
				j.Request.Files = append(j.Request.Files, snippet.File{Path: fmt.Sprintf("in%d", i), Content: make([]byte, 1<<19)})
			}
			r := s.run(t, j)
			wellFormed(t, r)
			with, without := 0, 0
			for _, a := range r.Files {
				if a.Content != nil {
					with++
				} else {
					without++
				}
			}
			if r.Reason != c.reason || with != c.with || without != c.without || r.FilesOmitted < c.atLeast || c.exact && r.FilesOmitted != c.atLeast {
				t.Errorf("%s: %d files with content, %d without, %d only counted; want %+v; stderr %q", r.Reason, with, without, r.FilesOmitted, c, r.Stderr)
			}
		})
	}
	s.settled(t, fixtureWorkers)
}

// The collector reads plain files of the work folder and nothing else, even if
// something else got there.
func TestCollectorFollowsNothing(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	dir := t.TempDir()
	c := &child{folders: folders{dir: dir}, pidfd: -1, job: -1}
	if err := os.WriteFile(outside, []byte("not-for-them"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.Mkdir(c.work(), 0o700),
		os.Symlink(outside, filepath.Join(c.work(), "link")),
		os.Symlink(filepath.Dir(outside), filepath.Join(c.work(), "folder")),
		os.Symlink("/proc/self", filepath.Join(c.work(), "proc")),
		os.Symlink("../../outside", filepath.Join(c.work(), "up")),
		os.Link(outside, filepath.Join(c.work(), "hard")),
		unix.Mkfifo(filepath.Join(c.work(), "fifo"), 0o600),
		os.WriteFile(filepath.Join(c.work(), "own"), []byte("own"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	r := &run{child: c, job: job("")}
	var result snippet.Result
	left, err := r.survey(&ending{}, false)
	if err != nil {
		t.Fatal(err)
	}
	r.collect(&result, left)
	for _, a := range result.Files {
		if text := contentOf(t, a); text != "" && a.Path != "own" || text != "own" && a.Path == "own" {
			t.Errorf("%s holds %q", a.Path, text)
		}
	}
	if len(result.Files) == 0 {
		t.Error("nothing was collected")
	}
}

// A run ends with its caller.
func TestCallerLeaves(t *testing.T) {
	s := shared.get(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	j := job("while True: pass")
	j.Request.Timeout = 20 * time.Second
	began := time.Now()
	_, _ = s.Run(ctx, j)
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("the run went on for %v", took)
	}
	s.settled(t, fixtureWorkers)
}

// TestForgedReports: the harness's channel is in reach of a snippet that got
// round the guard. What it says there is bounded, fits together and can be counted.
func TestForgedReports(t *testing.T) {
	const find = "import sys, os\nf = sys._getframe()\nwhile type(f.f_locals.get('self')).__name__ != 'Run': f = f.f_back\ntoken = f.f_locals['self']._token\n"
	for name, c := range map[string]struct {
		report string
		want   snippet.Reason
		code   int
	}{
		"count":           {`{"end":"completed","exit_code":0,"blocked_count":1125899906842625}`, snippet.Completed, 0},
		"line":            {`{"end":"exception","exit_code":1,"error":{"type":"E\u0000\n","message":"","line":-9,"traceback":""}}`, snippet.Exception, 1},
		"error and OK":    {`{"end":"completed","exit_code":0,"error":{"type":"E","message":"","line":1,"traceback":""}}`, snippet.Completed, 0},
		"exception and 0": {`{"end":"exception","exit_code":0}`, snippet.Exception, 1},
		"refused nothing": {`{"end":"exit","refused":"import_denied","exit_code":3}`, snippet.ExitStatus, 3},
	} {
		t.Run(name, func(t *testing.T) {
			r := unguarded.get(t).run(t, job(find+"os.write(3, token + b'R' + rb'''"+c.report+"''')\nimport time\ntime.sleep(3)"))
			wellFormed(t, r)
			if r.Reason != c.want || r.ExitCode == nil || *r.ExitCode != c.code || r.BlockedCount > 1_000_000_000 {
				t.Errorf("got %+v", r)
			}
			if e := r.Error; e != nil && (e.Line != nil || strings.ContainsAny(e.Type, "\x00\n")) {
				t.Errorf("error %+v", e)
			}
		})
	}
}

// TestOwnSignalIsNoLimit: a limit is believed when it is seen from outside.
func TestOwnSignalIsNoLimit(t *testing.T) {
	r := unguarded.get(t).run(t, job("import os, signal\nos.kill(os.getpid(), signal.SIGXCPU)\nimport time\ntime.sleep(3)"))
	if r.Reason != snippet.Signal || r.Signal == nil || *r.Signal != "SIGXCPU" {
		t.Errorf("got %+v", r)
	}
}
