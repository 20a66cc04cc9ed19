import contextlib
import hashlib
import io
import tempfile
import unittest
from pathlib import Path

from fixity import manifest
from fixity.__main__ import main
from fixity.digest import digest_tree


class Collection(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name, "maps")
        for path in ("a.tif", "b.tif", "sheet 1/front.tif", "sheet 1/back.tif", "sheet 2/front.tif", ".lock", ".cache/x"):
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_bytes(path.encode())
        self.list = Path(folder.name, "maps.sha256")

    def run_main(self, *args):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = main([str(arg) for arg in args])
        return status, out.getvalue()

    def test_each_visible_file_has_its_checksum(self):
        paths = ["a.tif", "b.tif", "sheet 1/back.tif", "sheet 1/front.tif", "sheet 2/front.tif"]
        self.assertEqual(digest_tree(self.root), {path: hashlib.sha256(path.encode()).hexdigest() for path in paths})

    def test_a_manifest_verifies_the_folder_it_was_made_of(self):
        status, text = self.run_main("digest", self.root)
        self.assertEqual(status, 0)
        self.list.write_text(text, encoding="utf-8")
        self.assertEqual(self.run_main("verify", self.root, self.list), (0, ""))

    def test_differences_are_named(self):
        self.list.write_text(self.run_main("digest", self.root)[1], encoding="utf-8")
        (self.root / "a.tif").write_bytes(b"scratched")
        (self.root / "b.tif").unlink()
        (self.root / "c.tif").write_bytes(b"new")
        expected = "changed a.tif\nmissing b.tif\nadded c.tif\n"
        self.assertEqual(self.run_main("verify", self.root, self.list), (1, expected))

    def test_a_line_that_is_no_manifest_is_named(self):
        with self.assertRaisesRegex(manifest.ManifestError, "line 2"):
            manifest.read("0" * 64 + "  a.tif\nhello\n")


if __name__ == "__main__":
    unittest.main()
