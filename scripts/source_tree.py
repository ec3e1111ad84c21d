"""The C++ files of a source tree, and their text without comments: what the checks in scripts/ read."""

import pathlib
import re

FOLDERS = ("lib", "server", "admin", "tests")

# Literals are matched so that a comment sign inside one is not taken for a comment.
_TOKEN = re.compile(
    r'R"(?P<mark>[^()\s\\]*)\(.*?\)(?P=mark)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'(?:\\.|[^'\\\n])'"
    r"|//[^\n]*"
    r"|/\*.*?\*/",
    re.DOTALL,
)


def cpp_files(root):
    """Yields every .h and .cc file under `root`, as a path relative to it, in order."""
    root = pathlib.Path(root)
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cc") and path.is_file():
                yield path.relative_to(root)


def without_comments(text):
    """Blanks comments; every line keeps its number, every literal its place."""

    def blank(match):
        token = match.group()
        return "\n" * token.count("\n") if token.startswith(("//", "/*")) else token

    return _TOKEN.sub(blank, text)
