"""Attack: smuggle a workflow command, terminal escapes and markup through an exception's message.

Why it must fail: reports escape every text that is not ours.

Expect: build_failed
"""

raise ValueError(
    "\n::error file=grade::0wned\n::set-output name=points::100\n"
    "\x1b[2J\x1b]0;0wned\x07<script>alert(1)</script>\u202e"
)
