SELECT member.name, book.title, loan.due
FROM loan
JOIN book ON book.id = loan.book_id
JOIN member ON member.id = loan.member_id
WHERE loan.returned IS NULL AND loan.due < :day
ORDER BY loan.due, member.name;
