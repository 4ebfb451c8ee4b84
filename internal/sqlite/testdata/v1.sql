-- A data file of schema version 1 with three runs, as that version wrote it.
CREATE TABLE events (
	id      TEXT NOT NULL UNIQUE,
	time    INTEGER NOT NULL,
	tenant  TEXT NOT NULL,
	outcome TEXT NOT NULL,
	body    TEXT NOT NULL
);
CREATE INDEX events_by_time ON events (time, id);
CREATE INDEX events_by_tenant ON events (tenant, time, id);
CREATE TABLE totals (
	scope   TEXT NOT NULL,
	counter TEXT NOT NULL,
	value   INTEGER NOT NULL,
	PRIMARY KEY (scope, counter)
) WITHOUT ROWID;
CREATE TABLE minutes (
	scope   TEXT NOT NULL,
	minute  INTEGER NOT NULL,
	counter TEXT NOT NULL,
	value   INTEGER NOT NULL,
	PRIMARY KEY (scope, minute, counter)
) WITHOUT ROWID;
CREATE INDEX minutes_by_minute ON minutes (minute);
INSERT INTO events VALUES ('01OLD1', 1764547200000, 'default', 'OK', '{"id":"01OLD1","time":"2025-12-01T00:00:00Z","tenant":"default","outcome":"OK","reason":"completed","duration_ms":4}');
INSERT INTO events VALUES ('01OLD2', 1764547201000, 'default', 'ERROR', '{"id":"01OLD2","time":"2025-12-01T00:00:01Z","tenant":"default","outcome":"ERROR","reason":"exception","duration_ms":6}');
INSERT INTO events VALUES ('01OLD3', 1764547201000, 'default', 'ERROR', '{"id":"01OLD3","time":"2025-12-01T00:00:01Z","tenant":"default","outcome":"ERROR","reason":"exception","duration_ms":6,"a_field_of_then":true}');
INSERT INTO totals VALUES
	('', 'executions', 3), ('', 'outcome_OK', 1), ('', 'outcome_ERROR', 2), ('', 'reason_completed', 1),
	('', 'reason_exception', 2), ('', 'le_4', 1), ('', 'le_7.5', 2), ('', 'duration_us', 16000),
	('default', 'executions', 3), ('default', 'outcome_OK', 1), ('default', 'outcome_ERROR', 2), ('default', 'reason_completed', 1),
	('default', 'reason_exception', 2), ('default', 'le_4', 1), ('default', 'le_7.5', 2), ('default', 'duration_us', 16000);
INSERT INTO minutes VALUES ('', 1764547200, 'executions', 3), ('', 1764547200, 'outcome_OK', 1), ('', 1764547200, 'outcome_ERROR', 2);
PRAGMA user_version = 1;
