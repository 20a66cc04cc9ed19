"""The board: which lanes have work. One bit a lane, lane 0 lowest."""

BOARD_BITS = 8
_FULL = (1 << BOARD_BITS) - 1


class Board:
    def __init__(self):
        self.state = 0

    def open(self, lane):
        self.state |= (1 << lane) & _FULL

    def close(self, lane):
        self.state &= ~(1 << lane) & _FULL

    def lanes(self):
        return [lane for lane in range(BOARD_BITS) if self.state >> lane & 1]

    def snapshot(self):
        return bytes([self.state])
