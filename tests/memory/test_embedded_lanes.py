"""What each lane returns, and how the lanes are fused."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smriti.memory.embedded.lanes import LANES, Question, Ranked, bm25, fuse, recall
from smriti.memory.embedded.store import Draft, Extent, Matching, MemoryFile
from smriti.memory.embedded.words import words

REALM = "project:lotbook"


@pytest.fixture
def memories(tmp_path: Path) -> Iterator[MemoryFile]:
    opened = MemoryFile.open(str(tmp_path), durable=False)
    yield opened
    opened.close()


def plant(memories: MemoryFile, content: str, type_: str = "wisdom", realm: str = REALM) -> str:
    return memories.remember([Draft(content, type_, "m")], realm)[0]


def fused(memories: MemoryFile, query: str, *ablated: str, k: int = 8) -> list[str]:
    return [hit.memory.id for hit in recall(Question(memories, query, REALM, k, frozenset(ablated)))]


def lane(memories: MemoryFile, name: str, query: str) -> list[str]:
    seqs = [hit.seq for hit in Question(memories, query, REALM, 8).ask(name)]
    return [memory.id for memory in memories.recorded(seqs)]


def test_a_correction_comes_before_the_stale_memory_that_it_corrects(memories: MemoryFile) -> None:
    stale = plant(memories, "The idle timeout of staff sessions is 2700 seconds; use the idle timeout everywhere.")
    correction = plant(memories, "Correction: staff sessions end after 1020 seconds.", "correction")
    assert fused(memories, "Add an idle timeout to staff sessions.") == [correction, stale]


def test_an_older_correction_comes_before_a_newer_memory_of_another_type(memories: MemoryFile) -> None:
    correction = plant(memories, "The idle timeout of staff sessions is 1020 seconds.", "correction")
    newer = plant(memories, "The idle timeout of staff sessions is 2700 seconds.")
    assert fused(memories, "Add an idle timeout to staff sessions.") == [correction, newer]


def test_of_two_statements_of_a_fact_the_newer_comes_first_even_if_the_older_matches_better(
    memories: MemoryFile,
) -> None:
    older = plant(memories, "Page size of part listings is 60 rows; page the listings by page size and rows.")
    between = plant(memories, "The supplier wants the listings tab-separated.")
    newer = plant(memories, "A page of a part listing has 84 rows.")
    query = "Please page the part listings: page size in rows."
    assert lane(memories, "kw", query)[0] == lane(memories, "sem", query)[0] == older
    ranked = fused(memories, query)
    assert ranked.index(newer) < ranked.index(older)
    assert between in ranked


def test_without_ctx_age_decides_nothing(memories: MemoryFile) -> None:
    older = plant(memories, "Page size of part listings is 60 rows; page the listings by page size and rows.")
    newer = plant(memories, "A page of a part listing has 84 rows.")
    query = "Please page the part listings: page size in rows."
    assert fused(memories, query) == [newer, older]
    assert fused(memories, query, "ctx") == [older, newer]


def test_in_ctx_statements_of_one_fact_have_one_score_and_other_facts_their_own(memories: MemoryFile) -> None:
    older = plant(memories, "The HTTP timeout of the client is 30 seconds.")
    other = plant(
        memories, "A client whose timeout ran out after some seconds is named in the daily report to our support desk."
    )
    newer = plant(memories, "The client's HTTP timeout was raised to 45 seconds.")
    query = "HTTP timeout of the client in seconds"
    assert lane(memories, "ctx", query) == [newer, older, other]
    scores = [hit.score for hit in Question(memories, query, REALM, 8).ask("ctx")]
    assert scores[0] == scores[1] > scores[2]


def test_a_newer_memory_about_another_thing_does_not_pass_an_older_that_matches_better(memories: MemoryFile) -> None:
    better = plant(memories, "The HTTP timeout of the client is 30 seconds.")
    newer = plant(
        memories, "A client whose timeout ran out after some seconds is named in the daily report to our support desk."
    )
    assert fused(memories, "HTTP timeout of the client in seconds") == [better, newer]


def test_an_old_relevant_memory_is_not_drowned_by_newer_ones_about_other_things(memories: MemoryFile) -> None:
    relevant = plant(memories, "Exports without a limit flag write 640 lots.")
    for number in range(20):
        plant(memories, f"Exports of station {number} are read on day {number}.")
    assert fused(memories, "Which limit do exports have without the flag?")[0] == relevant


@pytest.mark.parametrize("place", [0, 100, 199])
def test_the_one_relevant_memory_among_200_is_in_the_first_three(memories: MemoryFile, place: int) -> None:
    seeded = random.Random(place)
    subjects = ["cache", "client", "loader", "report", "import", "scheduler", "archive", "gateway", "printer", "mailer"]
    facts = [
        "timeout",
        "limit",
        "retry count",
        "port",
        "batch size",
        "header",
        "log level",
        "owner",
        "schedule",
        "path",
    ]
    others = [
        f"The {seeded.choice(facts)} of the {seeded.choice(subjects)} {number} is {seeded.randrange(1000)} since May."
        for number in range(199)
    ]
    contents = [*others[:place], "An export writes 640 lots when no limit is given.", *others[place:]]
    ids = memories.remember([Draft(content, "wisdom", "m") for content in contents], REALM)
    assert ids[place] in fused(memories, "Add a limit option to the export of lots, with our usual default.")[:3]


def test_one_service_among_200_with_facts_of_the_same_form_is_told_by_its_name(memories: MemoryFile) -> None:
    names = ["gamma", *(f"service{number}" for number in range(199))]
    ids = memories.remember([Draft(f"The retry limit of {name} is 3.", "wisdom", "m") for name in names], REALM)
    assert fused(memories, "What is the retry limit of gamma?")[0] == ids[0]


def test_a_memory_of_another_realm_comes_last_and_only_through_xr(memories: MemoryFile) -> None:
    theirs = plant(memories, "The metrics listener is on port 9381 of every host.", realm="project:other")
    weak = plant(memories, "Ports are closed in winter.")
    found = recall(Question(memories, "Which port has the metrics listener?", REALM, 8))
    assert [hit.memory.id for hit in found] == [weak, theirs]
    assert found[-1].lanes == ("xr",)
    assert fused(memories, "Which port has the metrics listener?", "xr") == [weak]


def test_few_memories_of_other_realms_come_and_none_for_one_common_word(memories: MemoryFile) -> None:
    for number in range(5):
        plant(memories, f"The metrics listener is on port {number}.", realm=f"project:other{number}")
    assert len(fused(memories, "port of the metrics listener")) == 2
    assert fused(memories, "port of the ferry") == []


def test_a_correction_of_another_realm_is_not_put_first(memories: MemoryFile) -> None:
    theirs = plant(memories, "The metrics listener is on port 9381.", "correction", realm="project:other")
    own = plant(memories, "The metrics listener is on port 9318.")
    assert fused(memories, "port of the metrics listener") == [own, theirs]


def test_a_correction_that_barely_matches_is_not_put_first(memories: MemoryFile) -> None:
    relevant = plant(memories, "Exports without a limit flag write 640 lots of the ledger.")
    plant(memories, "The ferry leaves at nine, and the ledger of it is kept ashore by the harbour.", "correction")
    for number in range(5):
        plant(memories, f"The ledger has a page {number}.")
    assert fused(memories, "How many lots do exports of the ledger write without a limit flag?")[0] == relevant


def test_what_a_realm_returns_does_not_depend_on_other_realms(memories: MemoryFile) -> None:
    for content in ("The gate of the harbour is red.", "The gate is old.", "The harbour is deep and old."):
        plant(memories, content)
    query = "old gate of the harbour"
    before = {name: lane(memories, name, query) for name in LANES}
    scores = [hit.score for hit in Question(memories, query, REALM, 8).ask("kw")]
    for number in range(30):
        plant(memories, f"gate {number}", realm="project:other")
    after = {name: lane(memories, name, query) for name in LANES}
    assert scores == [hit.score for hit in Question(memories, query, REALM, 8).ask("kw")]
    assert {name: ids for name, ids in before.items() if name != "xr"} == {
        name: ids for name, ids in after.items() if name != "xr"
    }


def test_sem_finds_another_spelling_that_kw_does_not(memories: MemoryFile) -> None:
    spelt = plant(memories, "Normalisation.")
    assert lane(memories, "kw", "normalise") == []
    assert lane(memories, "sem", "normalise") == lane(memories, "hyb", "normalise") == [spelt]


@pytest.mark.parametrize("name", ["kw", "sem", "ctx", "hyb"])
def test_each_lane_of_the_realm_finds_a_memory_by_its_own_words(memories: MemoryFile, name: str) -> None:
    wanted = plant(memories, "Exports write 640 lots.")
    plant(memories, "The ferry leaves at nine.")
    assert lane(memories, name, "exports of lots") == [wanted]


def test_corr_returns_corrections_alone_and_at_most_two(memories: MemoryFile) -> None:
    plant(memories, "Exports write 640 lots.")
    corrections = [plant(memories, f"Exports write {number} lots.", "correction") for number in range(4)]
    assert lane(memories, "corr", "exports of lots") == corrections[:2]


def test_an_ablated_lane_is_not_asked_by_hyb_either(memories: MemoryFile) -> None:
    spelt = plant(memories, "Normalisation.")
    both = plant(memories, "Please normalise.")
    question = Question(memories, "normalise", REALM, 8, frozenset({"sem"}))
    assert [memory.id for memory in memories.recorded([hit.seq for hit in question.ask("hyb")])] == [both]
    assert question.ask("sem") == []
    assert set(lane(memories, "hyb", "normalise")) == {spelt, both}


def test_a_memory_carries_the_lanes_that_returned_it(memories: MemoryFile) -> None:
    plant(memories, "Exports write 640 lots.", "correction")
    [hit] = recall(Question(memories, "exports of lots", REALM, 8))
    assert hit.lanes == ("kw", "sem", "ctx", "corr", "hyb")


@pytest.mark.parametrize("query", ["", "   "])
def test_an_empty_query_finds_nothing(memories: MemoryFile, query: str) -> None:
    plant(memories, "Exports write 640 lots.")
    assert fused(memories, query) == []


@pytest.mark.parametrize("k", [-1, 0])
def test_no_hits_come_where_none_are_asked_for(memories: MemoryFile, k: int) -> None:
    plant(memories, "Exports write 640 lots.")
    plant(memories, "Exports write 700 lots.")
    assert fused(memories, "exports", k=k) == []


def test_a_prompt_of_a_hundred_thousand_words_is_answered(memories: MemoryFile) -> None:
    wanted = plant(memories, "Exports write 640 lots.")
    query = "exports of lots " + " ".join(f"word{number}" for number in range(100_000))
    assert fused(memories, query) == [wanted]
    assert len(Question(memories, query, REALM, 8).words) == 2000


def test_bm25_is_the_published_formula() -> None:
    """Scores of a corpus of four, worked out by hand from the formula in the docstring."""
    texts = {1: "gate red", 2: "gate gate old harbour", 3: "harbour"}
    matching = [Matching(seq, "wisdom", words(text)) for seq, text in texts.items()]
    found = bm25(["gate", "harbour"], matching, Extent(4, 2.0))
    assert {match.seq: round(match.score, 6) for match in found} == {2: 1.958659, 1: 1.098612, 3: 1.381113}
    assert {match.seq: match.shared for match in found} == {2: 2, 1: 1, 3: 1}


def test_fusion_is_the_sum_of_reciprocal_ranks() -> None:
    found = fuse({"kw": [Ranked(1, 9.0), Ranked(2, 8.0)], "sem": [Ranked(2, 0.9)], "hyb": []})
    assert [hit.seq for hit in found] == [2, 1]
    assert [hit.score for hit in found] == pytest.approx([1 / 62 + 1 / 61, 1 / 61])


def test_equal_scores_are_fused_oldest_first() -> None:
    assert [hit.seq for hit in fuse({"kw": [Ranked(2, 1.0)], "sem": [Ranked(1, 1.0)]})] == [1, 2]


def test_what_corr_returned_is_fused_first_and_what_xr_returned_last() -> None:
    answers = {
        "kw": [Ranked(1, 9.0), Ranked(2, 8.0), Ranked(4, 1.0)],
        "corr": [Ranked(4, 1.0)],
        "xr": [Ranked(7, 99.0)],
    }
    assert [hit.seq for hit in fuse(answers)] == [4, 1, 2, 7]


def test_statements_of_one_fact_change_places_among_themselves_alone() -> None:
    answers = {
        "kw": [Ranked(1, 9.0), Ranked(2, 8.0), Ranked(3, 7.0), Ranked(4, 6.0)],
        "ctx": [Ranked(3, 9.0), Ranked(1, 9.0), Ranked(2, 8.0)],
    }
    order = [hit.seq for hit in fuse(answers)]
    assert order.index(3) < order.index(1)
    assert order[-1] == 4


ranked_lists = st.lists(st.integers(1, 12), unique=True, max_size=8).map(
    lambda seqs: [Ranked(seq, 1.0) for seq in seqs]
)


@given(st.dictionaries(st.sampled_from(["kw", "sem", "ctx", "hyb", "corr"]), ranked_lists))
def test_fusion_keeps_every_memory_once_with_falling_scores(answers: dict[str, list[Ranked]]) -> None:
    found = fuse(answers)
    assert sorted(hit.seq for hit in found) == sorted({hit.seq for answer in answers.values() for hit in answer})
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
