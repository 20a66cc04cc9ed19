import unittest
from decimal import Decimal

from quillbill.parse import BadInvoice, parse_invoice


def source(**line):
    return {
        "number": "1",
        "date": "2031-01-02",
        "customer": "Moss",
        "lines": [{"text": "Ink", "quantity": 2, "unit_price": "8.25", **line}],
    }


class ParseTest(unittest.TestCase):
    def test_amounts_have_two_places(self):
        self.assertEqual(str(parse_invoice(source(unit_price="8")).lines[0].unit_price), "8.00")

    def test_floats_are_refused(self):
        with self.assertRaisesRegex(BadInvoice, "line 1: 8.25 is not an amount"):
            parse_invoice(source(unit_price=8.25))

    def test_misspelt_keys_are_refused(self):
        with self.assertRaisesRegex(BadInvoice, "line 1: unknown colour"):
            parse_invoice(source(colour="black"))

    def test_credit_notes_have_negative_quantities_not_prices(self):
        note = parse_invoice(source(quantity=-2))
        self.assertTrue(note.is_credit_note)
        self.assertEqual(note.total, Decimal("-16.50"))
        with self.assertRaises(BadInvoice):
            parse_invoice(source(unit_price="-8.25"))


if __name__ == "__main__":
    unittest.main()
