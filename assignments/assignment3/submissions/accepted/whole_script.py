# expect: verdict=accepted
# A whole script around the kernel: its host side is neither needed nor run.

import torch
import triton
import triton.language as tl


@triton.jit
def vec_add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    a = tl.load(a_ptr + offs, mask=mask)
    b = tl.load(b_ptr + offs, mask=mask)
    tl.store(c_ptr + offs, a + b, mask=mask)


DEVICE = triton.runtime.driver.active.get_active_torch_device()


def add(x: torch.Tensor, y: torch.Tensor):
    out = torch.empty_like(x)
    n = out.numel()
    vec_add[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, out, n, BLOCK=1024)
    return out


torch.manual_seed(0)
x = torch.rand(98432, device=DEVICE)
y = torch.rand(98432, device=DEVICE)
print(torch.max(torch.abs(x + y - add(x, y))))
