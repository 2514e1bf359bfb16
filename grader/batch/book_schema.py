"""The tables of the gradebook. docs/instructor-guide.md describes them from the outside."""

from __future__ import annotations

VERSION = 3
"""3: where the time of an attempt is from, and whose file it was. 2: results are whole; up to 1
they held what a student may see, and a reader of 1 would hand out all.
"""

ADDED = ("time_from TEXT NOT NULL DEFAULT 'file'", "owner TEXT NOT NULL DEFAULT ''")
"""Columns that the attempts of version 2 and earlier lack."""

TABLES = f"""
CREATE TABLE students (
  id      TEXT PRIMARY KEY,   -- as the roster or the folder has it
  name    TEXT NOT NULL DEFAULT '',
  email   TEXT NOT NULL DEFAULT '',
  section TEXT NOT NULL DEFAULT '',
  record  TEXT NOT NULL       -- JSON: every identifier of the roster
) STRICT;

-- One content that one student handed in for one assignment; its time never changes again.
CREATE TABLE attempts (
  id                INTEGER PRIMARY KEY,
  assignment        TEXT NOT NULL,
  student           TEXT NOT NULL,
  submission_sha256 TEXT NOT NULL,
  submitted         TEXT NOT NULL,  -- UTC, ISO 8601
  {ADDED[0]},  -- metadata, commit, name, file; unknown, late: no time is known, see origin.py
  {ADDED[1]},      -- the user whose file it was; '' where an archive held it
  UNIQUE (assignment, student, submission_sha256)
) STRICT;

-- Every grading of an attempt; rows are only ever added.
CREATE TABLE results (
  id        INTEGER PRIMARY KEY,
  attempt   INTEGER NOT NULL REFERENCES attempts (id),
  key       TEXT NOT NULL,       -- hash of everything that decides the grade
  verdict   TEXT NOT NULL,
  points    INTEGER,             -- NULL: the grader, not the student, is at fault
  out_of    INTEGER NOT NULL,
  graded    TEXT NOT NULL,
  seconds   REAL NOT NULL,
  published INTEGER NOT NULL,    -- 0: found by --compare, not yet a grade
  result    BLOB NOT NULL        -- the whole result as result.json, zlib; students get less
) STRICT;
CREATE INDEX results_of_attempt ON results (attempt, published, id);

-- An instructor's word: `points` in place of the automatic ones, or `plus` beside them.
CREATE TABLE overrides (
  id         INTEGER PRIMARY KEY,
  assignment TEXT NOT NULL,
  student    TEXT NOT NULL,
  points     INTEGER,
  plus       INTEGER,
  who        TEXT NOT NULL,
  why        TEXT NOT NULL,
  at         TEXT NOT NULL,
  withdrawn  INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE extensions (
  id         INTEGER PRIMARY KEY,
  assignment TEXT NOT NULL,
  student    TEXT NOT NULL,
  days       REAL NOT NULL,
  who        TEXT NOT NULL,
  why        TEXT NOT NULL,
  at         TEXT NOT NULL
) STRICT;

-- What happened, in order; rows are only ever added.
CREATE TABLE history (
  id         INTEGER PRIMARY KEY,
  at         TEXT NOT NULL,
  who        TEXT NOT NULL,
  what       TEXT NOT NULL,      -- graded, regraded, override, extension, withdrawn
  assignment TEXT NOT NULL,
  student    TEXT NOT NULL,
  before     TEXT NOT NULL,
  after      TEXT NOT NULL,
  why        TEXT NOT NULL
) STRICT;

-- The key of the pseudonyms, and how much students may see of each assignment's results.
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
"""
