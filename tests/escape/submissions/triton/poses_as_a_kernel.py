"""Attack: an object that answers every question as a kernel would and holds no code.

Why it must fail: what cannot be compiled is not a kernel.

Expect: build_failed
"""


class Anything:
    """Says yes."""

    def __getattr__(self, name):
        return Anything()

    def __call__(self, *args, **kwargs):
        return Anything()

    def __iter__(self):
        return iter(())

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0

    def __repr__(self):
        return "accepted " * 1_000_000


vec_add = Anything()
