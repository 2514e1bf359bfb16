"""Which function lowers which opcode. Everything else is unsupported, and says so when run."""

from __future__ import annotations

from grader.vgpu import lower_arith as a
from grader.vgpu import lower_bits as b
from grader.vgpu import lower_compare as q
from grader.vgpu import lower_convert as c
from grader.vgpu import lower_memory as m
from grader.vgpu import lower_sync as s
from grader.vgpu import lower_texture as t
from grader.vgpu.lower import OpFunction

OPCODES: dict[str, OpFunction] = {
    "add": a.add, "sub": a.add, "addc": a.add, "subc": a.add,
    "mul": a.mul, "mul24": a.mul,
    "mad": a.mad, "mad24": a.mad, "madc": a.mad, "fma": a.mad,
    "div": a.div, "rem": a.rem,
    "min": a.minmax, "max": a.minmax,
    "neg": a.negate, "abs": a.negate,
    "rcp": a.unary_float, "sqrt": a.unary_float, "rsqrt": a.unary_float, "ex2": a.unary_float,
    "lg2": a.unary_float, "sin": a.unary_float, "cos": a.unary_float, "tanh": a.unary_float,
    "testp": a.testp, "copysign": a.copysign,
    "and": b.logic, "or": b.logic, "xor": b.logic, "not": b.logic, "cnot": b.logic,
    "lop3": b.lop3, "shl": b.shift, "shr": b.shift, "shf": b.funnel,
    "popc": b.count_bits, "clz": b.count_bits, "brev": b.count_bits, "bfind": b.bfind,
    "bfe": b.bfe, "bfi": b.bfi, "bmsk": b.bmsk, "prmt": b.prmt, "fns": b.fns, "sad": b.sad,
    "dp4a": b.dot, "dp2a": b.dot, "vabsdiff4": b.video,
    "setp": q.setp, "set": q.set_, "selp": q.selp, "slct": q.slct,
    "mov": c.mov, "cvt": c.cvt, "cvta": c.cvta, "isspacep": c.isspacep, "mapa": c.mapa,
    "ld": m.ld, "ldu": m.ld, "st": m.st, "atom": m.atom, "red": m.atom, "cp": m.cp,
    "prefetch": m.nothing, "prefetchu": m.nothing, "discard": m.nothing,
    "applypriority": m.nothing, "nanosleep": m.nothing, "pmevent": m.nothing,
    "createpolicy": m.createpolicy,
    "tex": t.tex, "tld4": t.tex, "suld": t.suld, "sust": t.sust,
    "bar": s.bar, "barrier": s.bar, "membar": s.fence, "fence": s.fence,
    "shfl": s.shfl, "vote": s.vote, "activemask": s.activemask, "match": s.match,
    "redux": s.redux, "elect": s.elect,
    "mma": s.mma, "ldmatrix": s.ldmatrix, "stmatrix": s.ldmatrix,
    "movmatrix": s.movmatrix, "wmma": s.wmma,
    "mbarrier": s.mbarrier, "call": s.call,
}  # fmt: skip
