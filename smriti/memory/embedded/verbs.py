"""What is served, over whatever protocol: each verb's name, fields and answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import version
from threading import RLock
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from smriti.errors import UsageError
from smriti.memory.embedded import finding
from smriti.memory.embedded.finding import Found
from smriti.memory.embedded.journal import Journal, Sighting
from smriti.memory.embedded.store import Draft, MemoryFile, Recorded
from smriti.types.memory import MemoryType, RecallForm

SERVER = "smriti-mem"

_Text = Annotated[str, Field(min_length=1)]
_Realm = Annotated[
    str | None,
    Field(description="The project, for example project:lotbook; empty is no project. Without it the server's own."),
]
_Id = Annotated[str, Field(min_length=1, description="The exact id of a memory or an observation.")]
_Layer = Literal["memories", "observations", "kw", "sem", "ctx", "corr", "hyb", "xr"]
_Source = Annotated[str, Field(min_length=1, description="Where it comes from.")]


class _Fields(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Remember(_Fields):
    content: _Text
    realm: _Realm = None
    type: MemoryType = "wisdom"
    source_id: _Source = SERVER


class _Search(_Fields):
    query: str
    realm: _Realm = None
    k: Annotated[int, Field(ge=1, le=1000, description="How many hits at most.")] = 10
    layer: _Layer = "memories"


class _Expand(_Fields):
    id: _Id


class _Recall(_Fields):
    query: str
    realm: _Realm = None
    form: RecallForm = "full"
    budget: Annotated[int, Field(ge=0, description="How many tokens of text at most; one is four characters.")] = 2000
    layer: Annotated[_Layer | None, Field(description="Without it memories and observations together.")] = None


class _Correct(_Fields):
    id: _Id
    content: _Text
    realm: _Realm = None
    source_id: _Source = SERVER


class _Update(_Fields):
    id: _Id
    content: _Text


class _Forget(_Fields):
    ids: Annotated[list[_Id], Field(min_length=1)]


class _Capture(_Fields):
    content: _Text
    tool: Annotated[str, Field(min_length=1, description="The tool whose output it is.")]
    session_id: _Text
    realm: _Realm = None
    source_id: _Source = SERVER


class _Act(_Fields):
    title: _Text
    memory_ids: Annotated[list[_Id], Field(description="What it follows from.")]
    realm: _Realm = None


class _Actions(_Fields):
    realm: _Realm = None


class _List(_Fields):
    realm: _Realm = None
    superseded: bool = False


class _Count(_Fields):
    realm: Annotated[str | None, Field(description="This project alone; without it all projects.")] = None


class _Health(_Fields):
    pass


Answer = dict[str, Any]
"""A JSON object: the body of a REST answer and the structured content of an MCP tool's."""

_FieldsT = TypeVar("_FieldsT", bound=_Fields)


class _Opened(NamedTuple):
    memories: MemoryFile
    journal: Journal
    realm: str

    def realm_of(self, named: str | None) -> str:
        return self.realm if named is None else named


class Verb(NamedTuple, Generic[_FieldsT]):
    """One thing that a client can ask for."""

    fields: type[_FieldsT]
    about: str
    answer: Callable[[_Opened, _FieldsT], Answer]
    reads: bool = False
    """Whether it is a GET over REST."""

    def read(self, given: Mapping[str, object], name: str) -> _FieldsT:
        """Read the fields of a call; UsageError that names each one that is wrong."""
        try:
            return self.fields.model_validate(given)
        except ValidationError as error:
            wrong = "; ".join(
                f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors(include_url=False)
            )
            expected = ", ".join(self.fields.model_fields) or "none"
            raise UsageError(f"{name}: {wrong}. Its fields are {expected}.") from error


class Service:
    """The verbs over one open memory file; threads take turns."""

    def __init__(self, memories: MemoryFile, realm: str) -> None:
        self._turn = RLock()
        self._opened = _Opened(memories, Journal(memories), realm)

    def call(self, name: str, given: Mapping[str, object]) -> Answer:
        """Answer one call. UsageError for fields that are wrong, UnknownIdError, or another MemorySystemError."""
        verb = VERBS[name]
        fields = verb.read(given, name)
        with self._turn:
            return verb.answer(self._opened, fields)

    def close(self, wait_s: float = -1) -> None:
        """Close the file when the call that has the turn is over, or in `wait_s` at the latest."""
        if self._turn.acquire(timeout=wait_s):
            try:
                self._opened.memories.close()
            finally:
                self._turn.release()


def _remember(opened: _Opened, asked: _Remember) -> Answer:
    draft = Draft(asked.content, asked.type, asked.source_id)
    [memory_id] = opened.memories.remember([draft], opened.realm_of(asked.realm))
    return {"id": memory_id}


def _search(opened: _Opened, asked: _Search) -> Answer:
    return {"hits": list(map(_hit, _found(opened, asked)))}


def _compact(opened: _Opened, asked: _Search) -> Answer:
    return {"hits": [_hit(finding.compacted(found)) for found in _found(opened, asked)]}


def _expand(opened: _Opened, asked: _Expand) -> Answer:
    return {**_shown(finding.expand(opened.memories, asked.id)), "cut": False}


def _recall(opened: _Opened, asked: _Recall) -> Answer:
    realm = opened.realm_of(asked.realm)
    disclosed = finding.recall_within(
        opened.memories, asked.query, realm, form=asked.form, budget=asked.budget, layer=asked.layer
    )
    return {
        "form": asked.form,
        "budget": asked.budget,
        "tokens": finding.tokens(disclosed.text),
        "matched": disclosed.matched,
        "cut": disclosed.cut,
        "hits": list(map(_hit, disclosed.hits)),
        "text": disclosed.text,
    }


def _correct(opened: _Opened, asked: _Correct) -> Answer:
    draft = Draft(asked.content, "correction", asked.source_id)
    [memory_id] = opened.memories.remember([draft], opened.realm_of(asked.realm), [asked.id])
    return {"id": memory_id, "superseded": [asked.id]}


def _update(opened: _Opened, asked: _Update) -> Answer:
    opened.memories.update(asked.id, asked.content)
    return {"id": asked.id}


def _forget(opened: _Opened, asked: _Forget) -> Answer:
    deleted = list(dict.fromkeys(asked.ids))
    opened.journal.forget(deleted)
    return {"deleted": deleted}


def _capture(opened: _Opened, asked: _Capture) -> Answer:
    sighting = Sighting(asked.session_id, asked.tool, asked.content, asked.source_id)
    [observation_id] = opened.journal.capture([sighting], opened.realm_of(asked.realm))
    return {"id": observation_id}


def _act(opened: _Opened, asked: _Act) -> Answer:
    return {"id": opened.journal.act(asked.title, asked.memory_ids, opened.realm_of(asked.realm))}


def _actions(opened: _Opened, asked: _Actions) -> Answer:
    deeds = opened.journal.actions(opened.realm_of(asked.realm))
    return {"actions": [{**deed._asdict(), "memory_ids": list(deed.memory_ids)} for deed in deeds]}


def _list(opened: _Opened, asked: _List) -> Answer:
    listed = opened.memories.listing(opened.realm_of(asked.realm), superseded=asked.superseded)
    return {
        "memories": [
            {**_shown(memory), "created_ms": memory.created_ms, "superseded_by": memory.superseded_by}
            for memory in listed
        ]
    }


def _count(opened: _Opened, asked: _Count) -> Answer:
    return dict(opened.journal.counts(asked.realm)._asdict())


def _health(opened: _Opened, asked: _Health) -> Answer:
    del asked
    opened.journal.counts("")
    return {"status": "ok", "name": SERVER, "version": version("smriti")}


def _found(opened: _Opened, asked: _Search) -> list[Found]:
    return finding.search(opened.memories, asked.query, opened.realm_of(asked.realm), asked.k, asked.layer)


def _shown(recorded: Recorded) -> Answer:
    return {
        "id": recorded.id,
        "type": recorded.type,
        "realm": recorded.realm,
        "source_id": recorded.source_id,
        "content": recorded.content,
    }


def _hit(found: Found) -> Answer:
    return {**_shown(found.recorded), "score": found.score, "cut": found.cut}


VERBS: dict[str, Verb[Any]] = {
    "remember": Verb(_Remember, "Store one memory. Nothing that is there already is replaced by it.", _remember),
    "search": Verb(_Search, "Find memories, or observations, best first.", _search),
    "compact": Verb(_Search, "Search, with long contents cut to their first 80 characters.", _compact),
    "expand": Verb(_Expand, "Return the whole content of a hit.", _expand),
    "recall": Verb(_Recall, "Return what bears on a query within a budget of tokens, and how much was cut.", _recall),
    "correct": Verb(_Correct, "Store a correction in the place of a memory, which is found no more.", _correct),
    "update": Verb(_Update, "Change what a memory says; it keeps its id.", _update),
    "forget": Verb(_Forget, "Remove memories or observations by their exact ids, all or none.", _forget),
    "capture": Verb(_Capture, "Store one observation: what a call of a tool gave.", _capture),
    "act": Verb(_Act, "Record something to be done, with the memories that it follows from.", _act),
    "actions": Verb(_Actions, "Return the actions of a project, oldest first.", _actions, reads=True),
    "list": Verb(_List, "Return the memories of a project, oldest first.", _list, reads=True),
    "count": Verb(_Count, "Count memories, observations and actions.", _count, reads=True),
    "health": Verb(_Health, "Say whether the store can be read.", _health, reads=True),
}
