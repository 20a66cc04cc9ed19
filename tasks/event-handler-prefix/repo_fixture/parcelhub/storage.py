"""The shop's file."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import date
from pathlib import Path

from parcelhub.parcel import Parcel
from parcelhub.shop import Shop


def load(path: Path) -> Shop:
    """Read a shop; a file that does not exist is a shop with an empty shelf."""
    if not path.exists():
        return Shop()
    content = json.loads(path.read_text(encoding="utf-8"))
    shop = Shop(outbox=[(phone, text) for phone, text in content["outbox"]])
    for entry in content["parcels"]:
        for name in ("since", "until"):
            entry[name] = entry[name] and date.fromisoformat(entry[name])
        shop.parcels[entry["code"]] = Parcel(**entry)
    return shop


def save(shop: Shop, path: Path) -> None:
    """Write a shop, so that the old file stays whole should the power fail."""
    content = {"parcels": [asdict(parcel) for parcel in shop.parcels.values()], "outbox": shop.outbox}
    fresh = path.with_name(path.name + ".new")
    fresh.write_text(json.dumps(content, indent=1, default=date.isoformat), encoding="utf-8")
    fresh.replace(path)
