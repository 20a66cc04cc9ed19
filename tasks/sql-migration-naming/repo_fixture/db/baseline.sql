CREATE TABLE branch (
  id   INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
);

CREATE TABLE book (
  id        INTEGER PRIMARY KEY,
  title     TEXT NOT NULL,
  author    TEXT NOT NULL,
  branch_id INTEGER NOT NULL REFERENCES branch (id)
);

CREATE TABLE member (
  id     INTEGER PRIMARY KEY,
  name   TEXT NOT NULL,
  joined TEXT NOT NULL
);

CREATE TABLE loan (
  id        INTEGER PRIMARY KEY,
  book_id   INTEGER NOT NULL REFERENCES book (id),
  member_id INTEGER NOT NULL REFERENCES member (id),
  lent      TEXT NOT NULL,
  due       TEXT NOT NULL,
  returned  TEXT
);

CREATE INDEX loan_by_book ON loan (book_id);
CREATE UNIQUE INDEX loan_one_open ON loan (book_id) WHERE returned IS NULL;
