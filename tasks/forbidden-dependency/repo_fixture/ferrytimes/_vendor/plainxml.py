"""plainxml 0.3: the part of XML that documents without a DTD are written in.

    root = parse('<list><item n="1">one &amp; only</item></list>')
    root.all("item")[0].get("n")

No DOCTYPE, no entities but the five predefined ones and character references, no processing instructions after the first
tag. Namespaces are not resolved: a prefix is part of the name.
"""

import re
from dataclasses import dataclass, field

_NAME = r"[A-Za-z_][\w.:-]*"
_TOKEN = re.compile(
    rf"""<!--(?P<comment>.*?)-->
    | <!\[CDATA\[(?P<cdata>.*?)\]\]>
    | </(?P<end>{_NAME})\s*>
    | <(?P<start>{_NAME})(?P<attributes>(?:\s+{_NAME}\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(?P<empty>/?)>
    | (?P<text>[^<]+)""",
    re.DOTALL | re.VERBOSE,
)
_PROLOG = re.compile(r"\s*(?:<\?xml\s[^<>]*\?>)?")
_ATTRIBUTE = re.compile(rf"""({_NAME})\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_REFERENCE = re.compile(r"&(?:#([0-9]{1,7})|#x([0-9A-Fa-f]{1,6})|(\w+));|&")
_PREDEFINED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


class XMLProblem(ValueError):
    """The text is not XML as plainxml knows it."""


@dataclass
class Element:
    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list["Element"] = field(default_factory=list)
    text: str = ""
    """All text directly inside the element, put together."""

    def get(self, name: str) -> str | None:
        return self.attributes.get(name)

    def all(self, tag: str) -> list["Element"]:
        """Children of that name, in order."""
        return [child for child in self.children if child.tag == tag]


def parse(document: str) -> Element:
    """Read a whole document and return its root; XMLProblem if there is none, or more than one."""
    top = Element("")
    stack = [top]
    position = _PROLOG.match(document).end()
    while position < len(document):
        token = _TOKEN.match(document, position)
        if token is None:
            raise _problem(document, position, f"unexpected {document[position:position + 12]!r}")
        _take(token, stack, document)
        position = token.end()
    if len(stack) > 1:
        raise _problem(document, position, f"<{stack[-1].tag}> is never closed")
    if len(top.children) != 1 or top.text.strip():
        raise _problem(document, position, "expected one root element and nothing beside it")
    return top.children[0]


def _take(token: re.Match[str], stack: list[Element], document: str) -> None:
    if token["start"]:
        attributes = {}
        for name, double, single in _ATTRIBUTE.findall(token["attributes"]):
            if name in attributes:
                raise _problem(document, token.start(), f"attribute {name} is given twice")
            attributes[name] = _resolve(double or single, token, document)
        element = Element(token["start"], attributes)
        stack[-1].children.append(element)
        if not token["empty"]:
            stack.append(element)
    elif token["end"]:
        if stack[-1].tag != token["end"]:
            raise _problem(document, token.start(), f"</{token['end']}> closes nothing")
        stack.pop()
    elif token["text"]:
        stack[-1].text += _resolve(token["text"], token, document)
    elif token["cdata"]:
        stack[-1].text += token["cdata"]


def _resolve(text: str, token: re.Match[str], document: str) -> str:
    def character(reference: re.Match[str]) -> str:
        decimal, hexadecimal, name = reference.groups()
        if name in _PREDEFINED:
            return _PREDEFINED[name]
        code = int(decimal) if decimal else int(hexadecimal, 16) if hexadecimal else 0
        if not 0 < code <= 0x10FFFF:
            raise _problem(document, token.start(), f"unknown reference {reference[0]!r}")
        return chr(code)

    return _REFERENCE.sub(character, text)


def _problem(document: str, position: int, why: str) -> XMLProblem:
    return XMLProblem(f"line {document.count(chr(10), 0, position) + 1}: {why}")
