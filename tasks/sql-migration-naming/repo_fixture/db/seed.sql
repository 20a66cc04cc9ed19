INSERT INTO branch (id, name) VALUES (1, 'Mill Street'), (2, 'Upper Farm');
INSERT INTO book (id, title, author, branch_id) VALUES
  (1, 'The Hedge Book', 'Hedge Society', 1),
  (2, 'Bees in Winter', 'County Press', 1),
  (3, 'A Short Walk North', 'Walkers Guild', 2);
INSERT INTO member (id, name, joined) VALUES (1, 'Card 0041', '2019-04-02'), (2, 'Card 0307', '2023-11-18');
INSERT INTO loan (id, book_id, member_id, lent, due, returned) VALUES
  (1, 1, 2, '2025-01-28', '2025-02-18', NULL),
  (2, 3, 1, '2025-02-01', '2025-02-22', '2025-02-20');
