INSERT INTO branch (id, name) VALUES (1, 'Mill Street'), (2, 'Upper Farm');
INSERT INTO book (id, title, author, branch_id) VALUES
  (1, 'The Hedge Book', 'R. Amory', 1),
  (2, 'Bees in Winter', 'L. Okafor', 1),
  (3, 'A Short Walk North', 'P. Lindqvist', 2);
INSERT INTO member (id, name, joined) VALUES (1, 'Ines Carver', '2019-04-02'), (2, 'Tom Adeyemi', '2023-11-18');
INSERT INTO loan (id, book_id, member_id, lent, due, returned) VALUES
  (1, 1, 2, '2025-01-28', '2025-02-18', NULL),
  (2, 3, 1, '2025-02-01', '2025-02-22', '2025-02-20');
