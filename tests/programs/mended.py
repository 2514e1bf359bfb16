"""What mends the programs of sources.py, and which of both the quick tests run."""

from __future__ import annotations

MENDED: dict[str, tuple[str, str]] = {
    "out_of_bounds": ("  out[i] = i;", "  if (i < n) out[i] = i;"),
    "misaligned": ("bytes + 1", "bytes + 4"),
    "leak": ("cudaFree(d);", "cudaFree(d);\n  cudaFree(kept);"),
    "shared_race": ("  out[threadIdx.x] = s", "  __syncthreads();\n  out[threadIdx.x] = s"),
    "divergent_barrier": ("  if (threadIdx.x < 32)\n", ""),
    "illegal_warp_sync": ("0xffffffff << 16", "0xffff"),
    "memset_size": ("cudaMemset(sums, 0, 64)", "cudaMemset(sums, 0, 64 * sizeof(int))"),
    "copy_in_elements": ("x, 64, cudaMemcpyDeviceToHost", "x, 256, cudaMemcpyDeviceToHost"),
    "allocated_in_elements": ("cudaMalloc(&x, 64)", "cudaMalloc(&x, 256)"),
    "wrong_direction": ("cudaMemcpyDeviceToHost", "cudaMemcpyHostToDevice"),
    "swapped_copy": ("cudaMemcpyHostToDevice", "cudaMemcpyDeviceToHost"),
    "host_pointer": (
        "  std::vector<int> h(32);\n  fill<<<1, 32>>>(h.data());  // HERE host_pointer\n",
        "  int* h;\n  cudaMallocManaged(&h, 128);\n  fill<<<1, 32>>>(h);\n  cudaFree(h);\n",
    ),
    "dereferenced_on_the_host": (
        'printf("%f\\n", d[3])',
        "float h[64];\n  cudaMemcpy(h, d, 256, cudaMemcpyDefault)",
    ),
    "use_after_free": (
        "  cudaFree(d);\n  fill<<<1, 32>>>(d);",
        "  fill<<<1, 32>>>(d);\n  cudaFree(d);",
    ),
    "copied_after_free": (
        "  cudaFree(d);\n  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);",
        "  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);\n  cudaFree(d);",
    ),
    "double_free": ("  cudaFree(d);\n  cudaFree(d);", "  cudaFree(d);\n  cudaFree(nullptr);"),
    "free_of_host_memory": ("  cudaFree(h);", ""),
    "too_many_threads": ("<<<1, 2048>>>", "<<<1, 1024>>>"),
    "forgotten_dynamic_shared": ("<<<1, 32>>>", "<<<1, 32, 32 * sizeof(int)>>>"),
    "tail": ("1000 / 256", "(1000 + 255) / 256"),
    "overshoot": ("<<<1000, 256>>>", "<<<5, 256>>>"),
    "managed_read_too_early": ("  printf", "  cudaDeviceSynchronize();\n  printf"),
    "pinned_read_too_early": ("  printf", "  cudaStreamSynchronize(0);\n  printf"),
    "other_stream": ("  cudaMemcpy(h", "  cudaStreamSynchronize(s);\n  cudaMemcpy(h"),
    "symbol_too_small": ("coefficients, h, sizeof h", "coefficients, h, 8 * sizeof(float)"),
    "symbol_copied_past_its_end": ("sizeof(int), 4)", "sizeof(int))"),
    "symbol_by_a_pointer": ("(address, &f", "(factor, &f"),
    "unchecked_launch": ("start(fill, 2000, d)", "start(fill, 1000, d)"),
    "too_much_dynamic_shared": (
        "  fill<<<",
        "  cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10);\n"
        "  fill<<<",
    ),
    "pinned_never_freed": ("h[0] = 1;", "h[0] = 1;\n  cudaFreeHost(h);"),
    "pinned_freed_as_device": ("  cudaFree(h);", ""),
    "rows_wider_than_the_pitch": ("h, 16, 16", "h, 16 * sizeof(float), 16"),
    "nothing_to_copy": ("  cudaMemcpy(", "  cudaMemset(d, 0, sizeof h);\n  cudaMemcpy("),
    "null_pointer_copied": ("h, d, sizeof h", "h, d, 0"),
    "null_pointer_filled": ("  cudaMemcpy(", "  if (d) cudaMemcpy("),
    "null_pointer_read": ("16, 16, 4", "16, 0, 4"),
    "null_pointer_to_a_symbol": ("float* h = nullptr", "float h[16] = {}"),
    "stack_too_small": ("float h[4 << 20]", "static float h[4 << 20]"),
    "null_pointer_used": ("= nullptr", "= new int"),
    "event_not_waited_for": ("  cudaEventE", "  cudaEventSynchronize(b);\n  cudaEventE"),
    "through_a_macro": ("cudaMemset(d, 0, 256)", "cudaMemset(d, 0, 64)"),
    "through_a_wrapper": ("cudaMemset(d, 0, 65)", "cudaMemset(d, 0, 64)"),
}
"""What mends each program: then nothing is said of it."""

QUICK = (
    "tail",
    "overshoot",
    "memset_size",
    "dereferenced_on_the_host",
    "managed_read_too_early",
    "too_many_threads",
    "null_pointer_filled",
    "stack_too_small",
)
QUICK_MENDED = ("too_many_threads", "tail", "overshoot")
"""Programs of the quick tests; the others are slow ones."""
