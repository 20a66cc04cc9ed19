"""Month-end list for accounting: one line a carrier, `ledger;carrier;contract`, by ledger account.

Runs on accounting's host, which has a checkout and a bare Python: parcelrate is not imported here.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def lines(root: Path) -> list[str]:
    contracts = tomllib.loads((root / "config" / "contracts.toml").read_text(encoding="utf-8"))
    found = []
    for path in (root / "parcelrate" / "carriers").iterdir():
        match = re.fullmatch(r"([a-z]+)_(\d{4})\.py", path.name)
        if match is None:
            continue
        key, ledger = match[1], int(match[2])
        if contracts[key]["ledger"] != ledger:
            raise SystemExit(f"{path.name}: the contract of {key} is on ledger {contracts[key]['ledger']}")
        found.append(f"{ledger};{key};{contracts[key]['contract']}")
    return sorted(found)


if __name__ == "__main__":
    sys.stdout.write("".join(f"{line}\n" for line in lines(ROOT)))
