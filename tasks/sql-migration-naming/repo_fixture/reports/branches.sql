SELECT branch.name,
       count(DISTINCT book.id),
       count(loan.id)
FROM branch
LEFT JOIN book ON book.branch_id = branch.id
LEFT JOIN loan ON loan.book_id = book.id AND loan.returned IS NULL AND loan.lent <= :day
GROUP BY branch.id
ORDER BY branch.name;
