"""Service notices of the harbour board, as the kiosks show them."""

from dataclasses import dataclass

from ferrytimes._vendor import plainxml


@dataclass(frozen=True)
class Notice:
    """A notice; `quay` is None if it is meant for all of them."""

    text: str
    quay: str | None = None


def read_notices(document: str) -> list[Notice]:
    """Read the board's feed. A feed that cannot be read is no notices: it must not keep the departures off the screen."""
    try:
        board = plainxml.parse(document)
    except plainxml.XMLProblem:
        return []
    return [Notice(" ".join(entry.text.split()), entry.get("quay")) for entry in board.all("notice") if entry.text.strip()]


def notices_for(quay: str, notices: list[Notice]) -> list[str]:
    """What is to be shown on one quay, the general notices last."""
    return [notice.text for notice in sorted(notices, key=lambda notice: notice.quay is None) if notice.quay in (quay, None)]
