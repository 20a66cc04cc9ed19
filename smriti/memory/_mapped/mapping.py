"""The mapping file: its fields, what is refused in it, and where it stands."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from smriti.errors import UsageError
from smriti.memory._mapped import paths
from smriti.memory._mapped.fill import placeholders
from smriti.resources import resource
from smriti.types import Stored

Kind = Literal["mcp", "http", "command"]


OF_THE_STORE = frozenset({"workspace", "home", "prefix", "port", "python"})
"""Placeholders that every template may have."""

_REALM = {"realm", "project"}
_SEARCHED = {"query", "k", "layer"} | _REALM
_WRITTEN = {"content", "type", "source", "new_id", "now"} | _REALM
OF_VERBS: Mapping[str, frozenset[str]] = {
    name: frozenset(known)
    for name, known in {
        "remember": _WRITTEN,
        "search": _SEARCHED,
        "compact": _SEARCHED,
        "recall": _SEARCHED | {"form", "budget"},
        "forget": {"id", "ids"},
        "get": {"id"},
        "expand": {"id"},
        "correct": _WRITTEN | {"id"},
        "update": {"id", "content", "now"},
        "capture": {"content", "tool", "session", "source", "new_id", "now"} | _REALM,
        "act": {"title", "memory_ids", "new_id"} | _REALM,
        "actions": _REALM,
        "count": set(),
        "setup": set(),
    }.items()
}


class Package(Stored):
    """What is installed, exactly."""

    registry: Literal["npm", "pypi"]
    name: str = Field(min_length=1)
    version: str = Field(min_length=1)
    integrity: str = Field(pattern=r"^(sha512-[A-Za-z0-9+/]{86}==|sha256:[0-9a-f]{64})$")
    """npm's own, or the sha256 of the wheel that suits every platform."""


class Pattern(Stored):
    """A place in a text: the first group of a regular expression, or all of it where it has none."""

    regex: str


Place = str | Pattern
"""A path into structured or JSON content, or a pattern of the text."""


class Rule(Stored):
    """Something that an answer says: a regular expression of its text, or a path and the value there."""

    regex: str | None = None
    path: str | None = None
    equals: bool | int | str | None = None


class Call(Stored):
    """One call: an MCP tool or the verb of a driver, or an HTTP method and path."""

    tool: str | None = None
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    path: str | None = None
    arguments: Mapping[str, Any] = Field(default_factory=dict)
    """Query parameters of GET and DELETE, else the JSON body."""
    refused: tuple[Rule, ...] = ()
    """By which an answer that arrived is known to refuse what was asked for."""


class Write(Call):
    """A call that stores something."""

    id: Place | None = None
    """Where its id stands; None where the client chooses it ({new_id}), or an update keeps it."""
    superseded: Place | None = None
    """Where it says what it replaced: anything there that was not asked for is a fault."""


class Remember(Write):
    """The call that stores a memory."""

    count: int = 1
    """By how much each raises what `count` counts."""


class Search(Call):
    """A call that finds."""

    hits: Place
    """The list of hits, or a pattern whose every match is one, with its groups named id, content and score."""
    id: str = "id"
    content: str = "content"
    score: str | None = None
    """Paths in one hit. Order is the system's own; a score that is missing or disagrees with it is 1/rank."""
    empty: tuple[Rule, ...] = ()
    """By which an answer without a list says that nothing matched."""
    per: Literal["query", "keyword"] = "query"
    """`keyword` asks for each word of the query, and ranks by how many found a hit."""
    query_max: int | None = Field(default=None, ge=1)
    """Characters that the system takes; a longer query is cut at a blank."""
    k_max: int = Field(default=100, ge=1)
    keep: Literal["all", "realm"] = "all"
    """`realm` asks for k_max hits and keeps those of the realm: for a system that does not tell projects apart."""


class Recall(Search):
    """A search within a budget."""

    text: Place | None = None
    cut: Place | None = None


class Forget(Call):
    """The call that removes memories: one for all where its template has {ids}, else one for each."""

    deleted: Place | None = None
    """A number or a list, which has to tell as many as were asked for."""


class Get(Call):
    """The call that returns one memory by its id."""

    content: Place
    missing: tuple[Rule, ...] = ()
    """By which an answer says that there is no such memory; a refusal, and content that is not there, say so too."""


class Count(Call):
    """The call that says how many memories there are."""

    value: Place
    """A number, or a list to be counted."""
    empty: tuple[Rule, ...] = ()


class Actions(Call):
    """The call that lists actions."""

    actions: Place
    id: str = "id"
    title: str = "title"
    memory_ids: str = "memory_ids"


class Ready(Stored):
    """By what a server over HTTP shows that it serves: a path that answers, or a line that it prints."""

    path: str | None = None
    line: str | None = None
    """A regular expression; its first group, where it has one, is the address."""


class Interface(Stored):
    """How a system is started and spoken to."""

    command: tuple[str, ...] = ()
    """Empty for a server that is run by someone else; then `url` is its whole address."""
    env: Mapping[str, str] = Field(default_factory=dict)
    cwd: str = "{workspace}"
    before: tuple[tuple[str, ...], ...] = ()
    """Commands that are run once in a new workspace, before the server is started."""
    setup: tuple[Call, ...] = ()
    """Calls that are made once in a new workspace."""
    url: str | None = None
    ready: Ready | None = None
    headers: Mapping[str, str] = Field(default_factory=dict)
    start_s: float = Field(default=60, gt=0)
    call_s: float = Field(default=60, gt=0)
    settle_s: float = Field(default=10, ge=0)
    """How long what was written may take to be found, and what was forgotten to be gone."""
    stop_s: float = Field(default=5, ge=0)
    """How long the server may take to end by itself before it is ended."""
    integer_ids: bool = False
    layers: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    """Beside those that the verbs make plain: restart, global."""
    refused: tuple[Rule, ...] = ()
    """Refusals of any verb."""
    remember: Remember
    search: Search
    forget: Forget
    get: Get | None = None
    correct: Write | None = None
    update: Write | None = None
    compact: Search | None = None
    expand: Get | None = None
    capture: Write | None = None
    act: Write | None = None
    actions: Actions | None = None
    recall: Recall | None = None
    count: Count | None = None

    def verbs(self) -> Iterator[tuple[str, Call]]:
        """Yield the calls that there are, each with its verb."""
        for name in OF_VERBS:
            if name == "setup":
                yield from (("setup", call) for call in self.setup)
            elif (call := getattr(self, name)) is not None:
                yield name, call

    def derived(self, kind: Kind) -> frozenset[str]:
        """Return the capabilities that follow from its verbs and its list."""
        found = {"provenance", *self.capabilities}
        found |= {"mcp"} if kind == "mcp" else {"rest"} if kind == "http" else set()
        if self.search.keep == "realm" or _REALM & set(placeholders(self.search.arguments)):
            found.add("projects")
        for capability, has in {
            "supersede": self.correct,
            "update": self.update,
            "expand": self.compact and self.expand,
            "capture": self.capture,
            "actions": self.act and self.actions,
            "budget": self.recall,
            "layers": self.layers,
        }.items():
            if has:
                found.add(capability)
        return frozenset(found)


class SystemFile(Stored):
    """A system and every way to speak to it, as its file says."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")
    version: str = Field(min_length=1)
    """`{smriti}` for what comes with smriti itself."""
    licence: str | None = None
    note: str | None = None
    """What has to be known of this mode of the system; it is in every manifest."""
    packages: tuple[Package, ...] = ()
    mcp: Interface | None = None
    http: Interface | None = None
    command: Interface | None = None


class Mapped(Stored):
    """A mapping that was read, and the digest of its file."""

    file: str
    """Its name alone."""
    sha256: str
    mapping: SystemFile
    kind: Kind
    interface: Interface


def folder() -> Path:
    """Return the folder of the mappings that came with smriti: inside the package, or beside it in a checkout."""
    return resource("eval", "systems")


def read(kind: Kind, argument: str | None) -> Mapped:
    """Read the mapping that `argument` names: one of smriti's by name, or a TOML file; UsageError names every fault."""
    path = _path(kind, argument)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"mapping {str(path)!r} cannot be read: {error.strerror}; expected a TOML file") from error
    return parse(kind, path.name, content)


def parse(kind: Kind, file: str, content: bytes) -> Mapped:
    """Read the mapping in `content`; UsageError names everything that is wrong with it."""
    try:
        table = tomllib.loads(content.decode())
    except ValueError as error:
        raise UsageError(f"mapping {file!r} is no TOML: {error}; expected a TOML file in UTF-8") from error
    try:
        mapping = SystemFile.model_validate(table)
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]
        raise UsageError(f"mapping {file!r}: {'; '.join(faults)}; see smriti/memory/README.md") from error
    interface: Interface | None = getattr(mapping, kind)
    if interface is None:
        raise UsageError(f"mapping {file!r} has no table [{kind}]; expected one, or another adapter than {kind}")
    if faults := list(_faults(kind, interface)):
        raise UsageError(f"mapping {file!r}: {'; '.join(faults)}")
    digest = sha256(content).hexdigest()
    return Mapped(file=file, sha256=digest, mapping=mapping, kind=kind, interface=interface)


def _path(kind: Kind, argument: str | None) -> Path:
    names = sorted(path.stem for path in folder().glob("*.toml"))
    choices = f"one of {', '.join(names)}, or a mapping file: {kind}:FILE.toml"
    if not argument:
        raise UsageError(f"memory system {kind!r} was given no mapping, expected {choices}")
    if argument.endswith(".toml"):
        return Path(argument)
    if argument not in names:
        raise UsageError(f"memory system '{kind}:{argument}' is not known, expected {choices}")
    return folder() / f"{argument}.toml"


def _faults(kind: Kind, interface: Interface) -> Iterator[str]:
    if kind == "http" and interface.url is None and (interface.ready is None or interface.ready.line is None):
        yield f"{kind}.url is missing, expected the base address, or ready.line with a pattern of it"
    if not interface.command and (kind == "command" or interface.url is None):
        yield f"{kind}.command is missing, expected the server's command"
    for template in (interface.command, interface.env, interface.cwd, interface.before, interface.url or ""):
        yield from _unknown(kind, template, OF_THE_STORE)
    for verb, call in interface.verbs():
        yield from _broken_call(kind, verb, call)
    for rule in interface.refused:
        yield from _broken_rule(kind, rule)


def _broken_call(kind: Kind, verb: str, call: Call) -> Iterator[str]:
    where = f"{kind}.{verb}"
    if kind == "http" and not (call.path or "").startswith("/"):
        yield f"{where} has the path {call.path!r}, expected one that begins with /"
    if kind != "http" and call.tool is None:
        yield f"{where} has no tool, expected one"
    yield from _unknown(where, [call.path or "", call.arguments], OF_THE_STORE | OF_VERBS[verb])
    for field, value in call:
        if field in _PLACES:
            yield from _broken_place(f"{where}.{field}", value)
    for rule in (*call.refused, *getattr(call, "empty", ()), *getattr(call, "missing", ())):
        yield from _broken_rule(where, rule)
    writes = verb in {"remember", "capture", "act", "correct"} and getattr(call, "id", None) is None
    if writes and "new_id" not in set(placeholders(call.arguments)):
        yield f"{where} has no id, expected where it stands, or {{new_id}} among the arguments"


_PLACES = frozenset(
    {
        "id",
        "superseded",
        "hits",
        "content",
        "score",
        "text",
        "cut",
        "deleted",
        "value",
        "actions",
        "title",
        "memory_ids",
    }
)


def _unknown(where: str, template: Any, known: frozenset[str]) -> Iterator[str]:
    for name in sorted(set(placeholders(template)) - known):
        yield f"{where} has the placeholder {{{name}}}, expected one of {', '.join(sorted(known))}"


def _broken_place(where: str, place: Any) -> Iterator[str]:
    if isinstance(place, str):
        try:
            paths.steps(place)
        except ValueError as error:
            yield f"{where} is {place!r}, {error}"
    elif isinstance(place, Pattern):
        yield from _broken_regex(where, place.regex)


def _broken_rule(where: str, rule: Rule) -> Iterator[str]:
    if (rule.regex is None) == (rule.path is None):
        yield f"{where} has a rule with both or neither of regex and path, expected one of them"
    elif rule.regex is not None:
        yield from _broken_regex(where, rule.regex)
    else:
        yield from _broken_place(where, rule.path)


def _broken_regex(where: str, regex: str) -> Iterator[str]:
    try:
        re.compile(regex)
    except re.error as error:
        yield f"{where} has the regular expression {regex!r}: {error}"
