"""`python -m grader.notes FILE_OR_FOLDER`: checks a note, with a checkout or the network if asked.

`grade submit` checks notes offline. Here a checkout of a framework may be named, which decides
where the facts are silent: `--checkout numpy=../numpy`; `--network` clones the release instead.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from grader import notes
from grader.notes import form, paths
from grader.notes.sources import Sources


def main(arguments: list[str] | None = None) -> int:
    """Prints what was found; the exit code is 0 where every entry is right or unknown."""
    parser = argparse.ArgumentParser(prog="python -m grader.notes", description=__doc__)
    parser.add_argument("place", type=Path, help="notes.toml, a Markdown note, or their folder")
    parser.add_argument("--checkout", action="append", default=[], metavar="FRAMEWORK=FOLDER")
    parser.add_argument("--network", action="store_true", help="clone a release that is not here")
    parser.add_argument("--json", action="store_true", help="print the record")
    given = parser.parse_args(arguments)
    if not given.place.exists():
        parser.error(f"no such file or folder: {given.place}")
    checkouts = {}
    for named in given.checkout:
        name, _, folder = named.partition("=")
        framework = form.FRAMEWORKS.get(name.lower(), ("", None))[0]
        if not folder or framework not in paths.REPOSITORIES or not Path(folder).is_dir():
            parser.error(f"expected FRAMEWORK=FOLDER, as numpy=../numpy, found {named}")
        checkouts[framework] = Path(folder)
    found = notes.check(given.place, use=Sources(checkouts=checkouts, network=given.network))
    if given.json:
        print(found.model_dump_json(indent=1))
    else:
        for problem in found.problems:
            print(f"{problem.file}:{problem.line or 1}: {problem.message}")
        for entry in found.entries:
            print(f"{entry.framework} {entry.backend or ''} {entry.version or ''}: {entry.verdict}")
            for claim in entry.claims:
                print(f"  {claim.claim}: {claim.verdict}. {claim.reason}")
    good = bool(found.entries) and not found.problems
    return 0 if good and all(e.verdict in ("right", "unknown") for e in found.entries) else 1


if __name__ == "__main__":
    sys.exit(main())
