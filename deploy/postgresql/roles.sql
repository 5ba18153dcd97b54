-- The rights of the service in its database. Run it once, as a superuser, in a database
-- with the name netsim.
--
-- netsim_owner owns every table: netsim migrate and the other commands of operators
-- connect with it. It sees what all sessions do, and may end them. netsim is for the processes: with NETSIM_MIGRATE=false they only read
-- and write rows.

CREATE ROLE netsim_owner LOGIN;
CREATE ROLE netsim LOGIN;

GRANT CREATE ON DATABASE netsim TO netsim_owner;
GRANT pg_read_all_stats, pg_signal_backend TO netsim_owner;

ALTER DEFAULT PRIVILEGES FOR ROLE netsim_owner GRANT USAGE ON SCHEMAS TO netsim;
ALTER DEFAULT PRIVILEGES FOR ROLE netsim_owner GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO netsim;
ALTER DEFAULT PRIVILEGES FOR ROLE netsim_owner GRANT SELECT, UPDATE ON SEQUENCES TO netsim;
