import json
import tempfile
import unittest
from datetime import datetime, timezone
from pathlib import Path

from slipway.credentials import key_of
from slipway.errors import AlreadyThere, NoSuchBundle, NoSuchChannel, NotAllowed
from slipway.journal import Journal
from slipway.registry import Registry


class RegistryTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name) / "releases"
        for channel in ("staging", "production"):
            (self.root / channel).mkdir(parents=True)
        (self.root / "access.json").write_text(json.dumps({key_of("anna's"): ["staging"]}), encoding="utf-8")
        self.bundle = Path(folder.name) / "app-1.4.0.tar.gz"
        self.bundle.write_bytes(b"bundle")
        journal = Journal(self.root / "journal.log", lambda: datetime(2024, 5, 2, 10, tzinfo=timezone.utc))
        self.registry = Registry(self.root, "anna's", journal)

    def test_a_bundle_is_published_to_staging(self) -> None:
        self.assertEqual(self.registry.publish(self.bundle), "app-1.4.0.tar.gz")
        self.assertEqual(self.registry.bundles("staging"), ["app-1.4.0.tar.gz"])
        self.assertEqual((self.root / "staging" / "app-1.4.0.tar.gz").read_bytes(), b"bundle")

    def test_a_change_is_journalled(self) -> None:
        self.registry.publish(self.bundle)
        line = (self.root / "journal.log").read_text(encoding="utf-8")
        self.assertTrue(line.startswith("2024-05-02T10:00:00Z publish app-1.4.0.tar.gz staging key="))

    def test_nothing_is_overwritten(self) -> None:
        self.registry.publish(self.bundle)
        with self.assertRaises(AlreadyThere):
            self.registry.publish(self.bundle)

    def test_a_strange_token_changes_nothing(self) -> None:
        with self.assertRaises(NotAllowed):
            Registry(self.root, "bob's").publish(self.bundle)
        self.assertEqual(self.registry.bundles("staging"), [])
        self.assertFalse((self.root / "journal.log").exists())

    def test_a_withdrawn_bundle_is_gone(self) -> None:
        self.registry.publish(self.bundle)
        self.registry.withdraw("app-1.4.0.tar.gz", "staging")
        self.assertEqual(self.registry.bundles("staging"), [])

    def test_what_is_not_there_cannot_be_withdrawn(self) -> None:
        with self.assertRaises(NoSuchBundle):
            self.registry.withdraw("app-1.4.0.tar.gz", "staging")
        with self.assertRaises(NoSuchChannel):
            self.registry.withdraw("app-1.4.0.tar.gz", "../staging")


if __name__ == "__main__":
    unittest.main()
