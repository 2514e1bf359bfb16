"""Where everything of a kernel lies: registers, parameters, shared arrays and local depots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.vgpu import layout as L
from grader.vgpu.debug_info import LocalVariable, local_variables
from grader.vgpu.program import Body, Program
from grader.vgpu.ptx import TYPE_BYTES, Ptx, Variable


def words(v: Variable) -> int:
    """Rows of an argument in the argument area; an eight-byte boundary for each."""
    return (v.size_bytes + 7) // 8 * 2


class Frame:
    """Offsets into a warp's state (bytes) and into the windows of shared and local memory.

    `slots`, `shadow_slots` and `param_slots` are keyed by function and register or parameter;
    `shared` and `local` give an array's window offset and declaration.
    """

    def __init__(self, ptx: Ptx, program: Program, shadow: bool) -> None:
        self.program = program
        self.shadow = shadow
        self.slots: dict[tuple[str, str], int] = {}
        self.shadow_slots: dict[tuple[str, str], int] = {}
        self.param_slots: dict[tuple[str, str], int] = {}
        self.next_slot = L.W_REGS
        self.shared: dict[str, tuple[int, Variable]] = {}
        self.local: dict[str, tuple[int, Variable]] = {}
        self.pieces: dict[str, list[tuple[int, int, int]]] = {}
        self.kernel_params: dict[str, int] = {}
        self.depth_slots: dict[str, int] = {}
        self._kernel_params()
        self._registers()
        arrays = local_variables(ptx)
        for body in program.bodies.values():
            self._variables(body, arrays)
        self._arguments()
        for v in ptx.variables.values():
            if v.space == "shared":
                at = 4000 if v.extern or v.count == 0 else len(self.shared)
                self.shared[v.name] = (L.array_offset(at), v)

    @property
    def register_bytes(self) -> int:
        """How many bytes of a warp's state lie here."""
        return self.next_slot - L.W_REGS

    def _kernel_params(self) -> None:
        offset = 0
        for p in self.program.kernel.params:
            offset = (offset + p.align - 1) // p.align * p.align
            self.kernel_params[p.name] = offset
            offset += p.size_bytes

    def _registers(self) -> None:
        # What may be read before it is written comes first and is cleared when a warp starts.
        late: list[tuple[str, str, str]] = []
        for name, body in self.program.bodies.items():
            needed = body.entry_live
            for block in body.blocks:
                needed |= block.live_out
            for reg, bit in body.index.items():
                if not needed >> bit & 1:
                    continue
                item = (name, reg, body.function.registers[reg])
                if body.entry_live >> bit & 1:
                    self._slot(*item)
                else:
                    late.append(item)
        self.zero_end = self.next_slot
        for item in late:
            self._slot(*item)

    def _variables(self, body: Body, arrays: Mapping[str, Sequence[LocalVariable]]) -> None:
        f = body.function
        variables = list(f.variables.values())
        if not f.entry:
            variables += [*f.params, *f.returns]
        for v in variables:
            if v.space == "param":
                self.param_slots[f.name, v.name] = self._space((v.size_bytes + 3) // 4 * 128)
                if self.shadow:
                    self.shadow_slots[f.name, v.name] = self._space(
                        (v.size_bytes + 3) // 4 * 16, 16
                    )
            elif v.space == "local":
                self.local[v.name] = (L.array_offset(len(self.local)), v)
                if not body.recursive:
                    self._split_depot(v, arrays.get(v.name, ()))
            elif v.space == "shared" and not v.extern:
                self.shared[v.name] = (L.array_offset(len(self.shared)), v)

    def _arguments(self) -> None:
        most = 1
        for body in self.program.bodies.values():
            f = body.function
            most = max(most, sum(map(words, f.params)), sum(map(words, f.returns)))
            if body.recursive:
                self.depth_slots[f.name] = self._space(128)
        self.argument_words = most
        self.argument_area = self._space(128 * most)
        self.argument_shadow = self._space(16 * most) if self.shadow else 0

    def _split_depot(self, depot: Variable, arrays: Sequence[LocalVariable]) -> None:
        """Give each array of a depot a place of its own, where debug information knows them."""
        for v in arrays:
            if v.offset + v.size > depot.size_bytes:
                continue
            at = L.array_offset(len(self.local))
            key = f"{depot.name}+{v.offset}.{v.name}"
            self.local[key] = (at, Variable(key, "local", "b8", depot.align, (v.size,)))
            self.pieces.setdefault(depot.name, []).append((v.offset, v.size, at))

    def local_offset(self, base: int, offset: int) -> int:
        """Where byte `offset` of the depot at window offset `base` lies: in its array, if known."""
        for depot, pieces in self.pieces.items():
            if self.local[depot][0] != base:
                continue
            for start, size, at in pieces:
                if start <= offset < start + size:
                    return at + offset - start
        return base + offset

    def _space(self, size: int, align: int = 64) -> int:
        self.next_slot = (self.next_slot + align - 1) // align * align
        at = self.next_slot
        self.next_slot += size
        return at

    def _slot(self, function: str, reg: str, type_: str) -> None:
        body = self.program.bodies[function]
        if type_ == "pred":
            self.slots[function, reg] = self._space(4, 4)
        elif reg in body.invariant:
            self.slots[function, reg] = self._space(8, 8)
            return
        else:
            self.slots[function, reg] = self._space(TYPE_BYTES[type_] * 32)
        if self.shadow:
            n = 0 if type_ == "pred" else TYPE_BYTES[type_]
            self.shadow_slots[function, reg] = self._space(4 * max(n, 1), 4 * max(n, 1))
