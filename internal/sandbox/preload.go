package sandbox

// preload is what the template loads before its first fork: modules that
// snippets import often, and those whose extension would otherwise be read from
// disk by every child.
var preload = []string{
	"abc", "argparse", "array", "ast", "asyncio", "base64", "bisect", "bz2", "calendar", "cmath", "codecs",
	"collections", "collections.abc", "colorsys", "concurrent.futures", "concurrent.futures.thread",
	"configparser", "contextlib", "contextvars", "copy", "csv", "ctypes", "dataclasses", "datetime", "decimal",
	"difflib", "dis", "encodings.idna", "encodings.latin_1", "encodings.utf_16", "encodings.ascii", "enum", "email.message", "fnmatch", "fractions", "functools",
	"getpass", "glob", "graphlib", "gzip", "hashlib", "heapq", "hmac", "html", "html.parser", "inspect", "io", "ipaddress",
	"itertools", "json", "keyword", "linecache", "locale", "logging", "lzma", "math", "mimetypes", "numbers",
	"operator", "pathlib", "pickle", "platform", "pprint", "queue", "random", "re", "reprlib", "secrets",
	"selectors", "shlex", "shutil", "sqlite3", "statistics", "string", "struct", "tempfile", "textwrap",
	"threading", "time", "timeit", "tokenize", "traceback", "types", "typing", "unicodedata", "unittest",
	"urllib.parse", "uuid", "warnings", "weakref", "xml.etree.ElementTree", "zipfile", "zlib", "zoneinfo",
	"_strptime", "_json", "_random", "_socket", "_ssl",
}

// zoneTrees are the folders of the time zone database, as zoneinfo.TZPATH has
// them by default.
func zoneTrees() []string {
	return []string{"/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/usr/share/lib/zoneinfo", "/etc/zoneinfo"}
}
