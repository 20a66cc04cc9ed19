-- LIB-417: members reserve a book that is out. Undone by v000417_reservation.rev.sql.
CREATE TABLE reservation (
  id        INTEGER PRIMARY KEY,
  book_id   INTEGER NOT NULL REFERENCES book (id),
  member_id INTEGER NOT NULL REFERENCES member (id),
  placed    TEXT NOT NULL
);

CREATE INDEX reservation_by_book ON reservation (book_id);
CREATE UNIQUE INDEX reservation_once ON reservation (book_id, member_id);
