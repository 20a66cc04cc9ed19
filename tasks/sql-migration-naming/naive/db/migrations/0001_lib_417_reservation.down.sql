-- Undoes 0001_lib_417_reservation.up.sql.
DROP INDEX reservation_once;
DROP INDEX reservation_by_book;
DROP TABLE reservation;
