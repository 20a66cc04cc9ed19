-- Undoes v000417_reservation.fwd.sql.
DROP INDEX reservation_once;
DROP INDEX reservation_by_book;
DROP TABLE reservation;
