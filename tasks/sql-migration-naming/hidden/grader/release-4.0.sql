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

CREATE TABLE applied (file TEXT PRIMARY KEY);
INSERT INTO applied (file) VALUES ('baseline.sql');

INSERT INTO branch (id, name) VALUES (1, 'Quay House');
INSERT INTO book (id, title, author, branch_id) VALUES (5, 'Salt', 'County Press', 1), (6, 'Ferns', 'Fern Society', 1);
INSERT INTO member (id, name, joined) VALUES (8, 'Card 0512', '2020-06-01'), (9, 'Card 0533', '2021-02-14');
INSERT INTO loan (id, book_id, member_id, lent, due, returned) VALUES (1, 5, 8, '2025-01-03', '2025-01-24', NULL);
