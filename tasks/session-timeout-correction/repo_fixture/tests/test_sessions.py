import unittest

from gatehouse import MemoryStore, Sessions
from gatehouse.errors import UnknownSession


class Clock:
    def __init__(self) -> None:
        self.now = 5000.0

    def __call__(self) -> float:
        return self.now


class SessionsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.clock = Clock()
        self.store = MemoryStore()
        self.sessions = Sessions(self.store, clock=self.clock)

    def test_a_token_resolves_to_its_user(self) -> None:
        token = self.sessions.open("maria", origin="desk-3")
        session = self.sessions.resolve(token)
        self.assertEqual((session.user, session.origin), ("maria", "desk-3"))

    def test_resolving_moves_last_seen(self) -> None:
        token = self.sessions.open("maria")
        self.clock.now += 4
        session = self.sessions.resolve(token)
        self.assertEqual((session.opened_at, session.last_seen), (5000.0, 5004.0))

    def test_a_closed_session_is_unknown(self) -> None:
        token = self.sessions.open("maria")
        self.sessions.close(token)
        with self.assertRaises(UnknownSession):
            self.sessions.resolve(token)

    def test_close_all_leaves_others_alone(self) -> None:
        self.sessions.open("maria")
        self.sessions.open("maria")
        kept = self.sessions.open("jonas")
        self.assertEqual(self.sessions.close_all("maria"), 2)
        self.assertEqual(self.sessions.resolve(kept).user, "jonas")

    def test_the_token_itself_is_not_stored(self) -> None:
        token = self.sessions.open("maria")
        self.assertNotIn(token, repr(self.store.all()))


if __name__ == "__main__":
    unittest.main()
