"""Deals items to lanes and runs the lanes."""

import threading
from collections import deque

from .board import Board


def fan_out(task, items, lanes=4, status=None):
    """Call task(item) for items on threads; return a list of (item, result) pairs, in no particular order.

    Items are dealt to the lanes in turn. `status`, if given, is called with the board's snapshot whenever a lane ends.
    """
    if lanes < 1:
        raise ValueError("lanes must be 1 or more")
    queues = [deque() for _ in range(lanes)]
    for turn, item in enumerate(items):
        queues[turn % lanes].append(item)

    board = Board()
    for lane, queue in enumerate(queues):
        if queue:
            board.open(lane)

    results, errors = [], []

    def serve(lane):
        queue = queues[lane]
        while queue and not errors:
            item = queue.popleft()
            try:
                results.append((item, task(item)))
            except Exception as error:
                errors.append(error)
        board.close(lane)
        if status is not None:
            status(board.snapshot())

    threads = [threading.Thread(target=serve, args=(lane,), daemon=True) for lane in board.lanes()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results
