import tempfile
import unittest
from pathlib import Path

from gatehouse import FileStore, Session
from gatehouse.errors import StoreError


class FileStoreTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "sessions.json"

    def test_a_missing_file_is_an_empty_store(self) -> None:
        self.assertEqual(FileStore(self.path).all(), [])

    def test_what_is_saved_can_be_read_by_another_store(self) -> None:
        session = Session("d1", "maria", 1.0, 2.0, "desk-3")
        FileStore(self.path).save(session)
        self.assertEqual(FileStore(self.path).get("d1"), session)

    def test_removing_twice_is_fine(self) -> None:
        store = FileStore(self.path)
        store.save(Session("d1", "maria", 1.0, 2.0))
        store.remove("d1")
        store.remove("d1")
        self.assertEqual(store.all(), [])

    def test_a_damaged_file_is_told(self) -> None:
        self.path.write_text("{", encoding="utf-8")
        with self.assertRaises(StoreError):
            FileStore(self.path).all()


if __name__ == "__main__":
    unittest.main()
