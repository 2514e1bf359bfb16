# expect: verdict=build_failed
# A function that calls torch is not a kernel.

import torch


def vec_add(a, b, c, n, BLOCK=1024):
    torch.add(a[:n], b[:n], out=c[:n])
