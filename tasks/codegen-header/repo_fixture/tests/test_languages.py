import unittest

from fieldpress import languages
from fieldpress.schema import Field, Schema

PARCEL = Schema(
    "ReturnParcel",
    "A customer's second thoughts.",
    (Field("sent_on", "date"), Field("weight", "decimal", optional=True)),
)


class Languages(unittest.TestCase):
    def test_a_dataclass_imports_what_it_uses(self):
        text = languages.python(PARCEL)
        self.assertIn("from datetime import date\nfrom decimal import Decimal\n", text)
        self.assertTrue(text.endswith("class ReturnParcel:\n    sent_on: date\n    weight: Decimal | None = None\n"))

    def test_an_interface_has_camel_case(self):
        self.assertIn("{\n  sentOn: string;\n  weight?: string;\n}\n", languages.typescript(PARCEL))

    def test_a_table_carries_its_purpose(self):
        self.assertEqual(
            languages.sql(PARCEL),
            "create table return_parcel (\n  sent_on date not null,\n  weight numeric(14, 2)\n);\n"
            "comment on table return_parcel is 'A customer''s second thoughts.';\n",
        )
