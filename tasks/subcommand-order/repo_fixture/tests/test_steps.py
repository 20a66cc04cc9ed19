import unittest

from coldroom.steps.climate import defrost, probe, reseal
from coldroom.steps.crates import inventory, label, sweep
from coldroom.store import Crate, Store, Unit


def store(*crates, **unit):
    fields = {"name": "A", "temp_c": 3.0, "limit_c": 4.0, "frost_mm": 0, "gasket": "good", **unit}
    return Store([Unit(**fields)], list(crates))


class ClimateTest(unittest.TestCase):
    def test_probe_marks_what_is_too_warm(self):
        warm = store(temp_c=5.5)
        self.assertEqual(probe(warm), ["probe: A is 1.5 degrees too warm"])
        self.assertTrue(warm.units[0].warm)

    def test_thin_frost_stays(self):
        self.assertEqual(defrost(store(frost_mm=3)), ["defrost: nothing to clear"])
        self.assertEqual(defrost(store(frost_mm=4)), ["defrost: A, 4 mm"])

    def test_a_gasket_is_mended_once(self):
        worn = store(gasket="worn")
        self.assertEqual(reseal(worn) + reseal(worn), ["reseal: A", "reseal: all doors are tight"])


class CratesTest(unittest.TestCase):
    def test_sweep_takes_empty_crates(self):
        swept = store(Crate(1, "plums", "A", 0), Crate(2, "plums", "A", 3))
        self.assertEqual(sweep(swept), ["sweep: 1 empty crates"])
        self.assertEqual([crate.number for crate in swept.crates], [2])

    def test_labels_go_on_from_the_highest(self):
        self.assertEqual(label(store(Crate(8, "plums", "A", 1), Crate(None, "figs", "A", 1))), ["label: 9 for figs in A"])

    def test_inventory_is_by_product(self):
        counted = store(Crate(1, "plums", "A", 1), Crate(2, "figs", "A", 1), Crate(3, "plums", "A", 0))
        self.assertEqual(inventory(counted), ["inventory: figs 1", "inventory: plums 2"])


if __name__ == "__main__":
    unittest.main()
