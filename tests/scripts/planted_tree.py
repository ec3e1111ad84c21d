"""Source trees with planted violations, and a way to run a check of scripts/ over one."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"


class PlantedTreeTest(unittest.TestCase):
    script = ""  # the check under test; set by each subclass

    def run_on(self, files):
        """Runs the check over a tree of `files` ({path: text}); returns (exit code, its lines)."""
        with tempfile.TemporaryDirectory() as root:
            for name, text in files.items():
                path = pathlib.Path(root, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            done = subprocess.run(
                [sys.executable, "-B", SCRIPTS / self.script, root],
                capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout.splitlines()

    def assert_passes(self, files):
        code, lines = self.run_on(files)
        self.assertEqual((code, len(lines)), (0, 1), lines)

    def assert_names(self, files, *expected):
        """Each violation is named, in order, by a line that starts with one of `expected`."""
        code, lines = self.run_on(files)
        self.assertEqual(code, 1, lines)
        self.assertEqual(len(lines), len(expected), lines)
        for line, start in zip(lines, expected):
            self.assertTrue(line.startswith(start), f"{line!r} does not start with {start!r}")
