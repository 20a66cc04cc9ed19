import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path

from linkcheck import markdown
from linkcheck.cli import main
from linkcheck.config import Config, load
from linkcheck.errors import CannotCheck
from linkcheck.pages import check


class Markdown(unittest.TestCase):
    def test_code_holds_no_links(self):
        text = "[a](a.md) `[b](b.md)`\n```\n[c](c.md)\n```\n![d](d.png \"title\")\n"
        self.assertEqual(list(markdown.links(text)), [(1, "a.md"), (5, "d.png")])

    def test_a_repeated_heading_is_numbered(self):
        self.assertEqual(markdown.headings("# What's new?\n## Notes\n## Notes ##\n"), {"whats-new", "notes", "notes-2"})


class Checking(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def page(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def printed(self, *options):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
            main([str(self.folder), *options])
        return out.getvalue()

    def test_each_broken_link_is_a_line(self):
        self.page("a.md", "# A\n[b](sub/b.md) [b](sub/b.md#two)\n")
        self.page("sub/b.md", "# One\n\n[up](../missing.md)\n")
        self.assertEqual(
            self.printed().splitlines(),
            [
                "a.md:2: no such heading: sub/b.md#two",
                "sub/b.md:3: no such file: ../missing.md",
                "2 broken links in 2 pages",
            ],
        )

    def test_the_outcome_as_json(self):
        self.page("a.md", "# A\n[up](#a)\n")
        self.assertEqual(json.loads(self.printed("--json")), {"pages": 1, "broken": []})

    def test_ignored_pages_can_still_be_linked_to(self):
        self.page("a.md", "[old](old/b.md#gone) [c](old/c.md)\n")
        self.page("old/b.md", "[x](x.md)\n")
        outcome = check(self.folder, Config(ignore=("old/*",), allow=("old/c.md",)))
        self.assertEqual((outcome.pages, [broken.target for broken in outcome.broken]), (1, ["old/b.md#gone"]))

    def test_an_unknown_key_is_refused(self):
        self.page("config.json", '{"ignored": []}')
        with self.assertRaisesRegex(CannotCheck, "unknown key 'ignored'"):
            load(self.folder / "config.json")

    def test_our_own_handbook_is_whole(self):
        root = Path(__file__).parent.parent
        self.assertEqual(check(root / "handbook", load(root / "linkcheck.json")).broken, [])
