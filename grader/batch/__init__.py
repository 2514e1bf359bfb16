"""A whole class: `grade batch`, the gradebook, and who gets which points.

::

    layouts.py     submissions as they lie in a folder -> Found, and what was skipped
    commits.py     when a clone's submission was committed
    roster.py      who is in the class: any CSV of the usual systems
    keys.py        what decides a grade, as one hash: the resume key
    gradebook.py   SQLite: attempts, results, history, overrides, extensions
    book_schema.py its tables
    late.py        due dates, grace, extensions, late days, penalties
    settings.py    class.toml
    grades.py      gradebook -> one Grade per student
    hidden.py      hidden cases added to an assignment
    run.py         grades what is not graded yet, each in its own children
    cluster.py     the same on the workers of Dask distributed
    export.py      grade export
    bundle.py      Gradescope's autograder as an archive
    options.py     the options of the instructor's commands
    command.py     what they do: options in, text out
"""
