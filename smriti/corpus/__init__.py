"""The task corpus: load it, select from it, and check it against its admission rules."""

from smriti.corpus.check import RULES, CorpusCheck, Unchecked, check_corpus, check_folders, check_task
from smriti.corpus.load import load_corpus, load_task, select, task_folders, tasks_root
from smriti.corpus.shape import Problem
from smriti.corpus.text import mentions

__all__ = [
    "RULES",
    "CorpusCheck",
    "Problem",
    "Unchecked",
    "check_corpus",
    "check_folders",
    "check_task",
    "load_corpus",
    "load_task",
    "mentions",
    "select",
    "task_folders",
    "tasks_root",
]
