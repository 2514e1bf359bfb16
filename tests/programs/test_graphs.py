"""CUDA graphs and stream capture: programs that check themselves, and what is found in them."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from grader.programs.run import Outcome
from grader.programs.steps import steps
from tests.programs.running import needs_host, outcome
from tests.programs.test_runtime_api import CHECK

pytestmark = needs_host

KERNELS = """
__global__ void add(int* a, const int* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] += b[i];
}
__global__ void times(int* a, int f, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] *= f;
}
"""

PROGRAMS: dict[str, str] = {
    "work happens at the launch": """
int main() {
  int *m, *d, host[4] = {1, 2, 3, 4}, out[4] = {};
  cudaMallocManaged(&m, 16);
  cudaMalloc(&d, 16);
  m[0] = 7;
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaStreamCaptureStatus status;
  expect(cudaStreamIsCapturing(s, &status) == 0 && status == cudaStreamCaptureStatusNone);
  expect(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal) == cudaSuccess);
  expect(cudaStreamIsCapturing(s, &status) == 0 && status == cudaStreamCaptureStatusActive);
  cudaMemcpyAsync(d, host, 16, cudaMemcpyHostToDevice, s);
  int factor = 10;
  times<<<1, 4, 0, s>>>(d, factor, 4);
  fill<<<1, 4, 0, s>>>(m, 4, 100);
  factor = 1000;  // a kernel's arguments have the values of the capture, memory that of the launch
  cudaMemcpyAsync(out, d, 16, cudaMemcpyDeviceToHost, s);
  cudaGraph_t graph;
  expect(cudaStreamEndCapture(s, &graph) == cudaSuccess);
  expect(cudaDeviceSynchronize() == cudaSuccess);
  expect(m[0] == 7 && out[3] == 0);
  cudaGraphExec_t exec;
  expect(cudaGraphInstantiate(&exec, graph, NULL, NULL, 0) == cudaSuccess);
  expect(cudaGraphDestroy(graph) == cudaSuccess);
  expect(out[3] == 0);
  expect(cudaGraphLaunch(exec, s) == cudaSuccess);
  expect(cudaStreamSynchronize(s) == cudaSuccess);
  expect(m[0] == 100 && out[3] == 40);
  host[3] = 5;
  cudaGraphLaunch(exec, s);
  cudaStreamSynchronize(s);
  expect(out[3] == 50);
  expect(cudaGraphExecDestroy(exec) == cudaSuccess);
  expect(cudaGraphLaunch(exec, s) == cudaErrorInvalidValue);
  cudaFree(m), cudaFree(d);
  return 0;
}
""",
    "streams join a capture by events": """
int main() {
  int *a, *b, out[4];
  cudaMalloc(&a, 16), cudaMalloc(&b, 16);
  cudaStream_t s, t;
  cudaStreamCreate(&s), cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
  cudaEvent_t fork, join;
  cudaEventCreate(&fork), cudaEventCreate(&join);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal);
  cudaEventRecord(fork, s);
  cudaStreamWaitEvent(t, fork);
  cudaStreamCaptureStatus status;
  expect(cudaStreamIsCapturing(t, &status) == 0 && status == cudaStreamCaptureStatusActive);
  fill<<<1, 4, 0, s>>>(a, 4, 1);
  fill<<<1, 4, 0, t>>>(b, 4, 10);
  cudaEventRecord(join, t);
  cudaStreamWaitEvent(s, join);
  add<<<1, 4, 0, s>>>(a, b, 4);
  cudaMemcpyAsync(out, a, 16, cudaMemcpyDeviceToHost, s);
  expect(cudaStreamEndCapture(s, &graph) == cudaSuccess);
  expect(cudaStreamIsCapturing(t, &status) == 0 && status == cudaStreamCaptureStatusNone);
  size_t nodes = 0, roots = 0, edges = 0;
  expect(cudaGraphGetNodes(graph, nullptr, &nodes) == 0 && nodes == 4);
  expect(cudaGraphGetRootNodes(graph, nullptr, &roots) == 0 && roots == 2);
  expect(cudaGraphGetEdges(graph, nullptr, nullptr, &edges) == 0 && edges == 3);
  expect(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
  for (int k = 0; k < 3; ++k) expect(cudaGraphLaunch(exec, s) == cudaSuccess);
  expect(cudaStreamSynchronize(s) == cudaSuccess && out[2] == 3 + 12);
  expect(cudaEventSynchronize(join) == cudaErrorCapturedEvent);
  cudaFree(a), cudaFree(b);
  return 0;
}
""",
    "nodes one by one": """
__constant__ int shift[1];
__global__ void move(int* a, int n) { if (threadIdx.x < n) a[threadIdx.x] += shift[0]; }
static int seen;
static void look(void* data) { seen = ((int*)data)[0]; }
int main() {
  int *d, n = 4, out[4], by = 1000;
  cudaMalloc(&d, 16);
  cudaGraph_t graph, child, copy;
  cudaGraphNode_t set, kernel, back, host, empty, inner, moved, symbol;
  expect(cudaGraphCreate(&graph, 0) == cudaSuccess);
  cudaMemsetParams value = {};
  value.dst = d, value.value = 0x01020304, value.elementSize = 4, value.width = 4, value.height = 1;
  expect(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &value) == cudaSuccess);
  int f = 2;
  void* arguments[] = {&d, &f, &n};
  cudaKernelNodeParams launch = {};
  launch.func = (void*)times, launch.gridDim = dim3(1), launch.blockDim = dim3(4);
  launch.kernelParams = arguments;
  expect(cudaGraphAddKernelNode(&kernel, graph, &set, 1, &launch) == cudaSuccess);
  expect(cudaGraphCreate(&child, 0) == cudaSuccess);
  void* others[] = {&d, &n};
  launch.func = (void*)move, launch.kernelParams = others;
  expect(cudaGraphAddMemcpyNodeToSymbol(&symbol, child, 0, 0, shift, &by, 4, 0,
                                        cudaMemcpyHostToDevice) == cudaSuccess);
  expect(cudaGraphAddKernelNode(&moved, child, &symbol, 1, &launch) == cudaSuccess);
  expect(cudaGraphAddChildGraphNode(&inner, graph, &kernel, 1, child) == cudaSuccess);
  expect(cudaGraphAddEmptyNode(&empty, graph, nullptr, 0) == cudaSuccess);
  expect(cudaGraphAddMemcpyNode1D(&back, graph, &inner, 1, out, d, 16, cudaMemcpyDeviceToHost)
         == cudaSuccess);
  cudaHostNodeParams call = {look, out};
  expect(cudaGraphAddHostNode(&host, graph, nullptr, 0, &call) == cudaSuccess);
  expect(cudaGraphAddDependencies(graph, &back, &host, 1) == cudaSuccess);
  expect(cudaGraphAddDependencies(graph, &empty, &host, 1) == cudaSuccess);
  expect(cudaGraphAddDependencies(graph, &empty, &host, 1) == cudaErrorInvalidValue);
  cudaGraphNodeType type;
  expect(cudaGraphNodeGetType(inner, &type) == 0 && type == cudaGraphNodeTypeGraph);
  expect(cudaGraphNodeGetType(symbol, &type) == 0 && type == cudaGraphNodeTypeMemcpy);
  expect(cudaGraphNodeGetType(host, &type) == 0 && type == cudaGraphNodeTypeHost);
  cudaGraphNode_t near[3];
  size_t count = 3;
  expect(cudaGraphNodeGetDependencies(host, near, &count) == 0 && count == 2 && near[0] == back);
  cudaGraphExec_t exec;
  expect(cudaGraphClone(&copy, graph) == cudaSuccess);
  expect(cudaGraphInstantiate(&exec, copy, 0) == cudaSuccess);
  expect(cudaGraphLaunch(exec, 0) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess);
  expect(out[3] == 2 * 0x01020304 + 1000 && seen == out[0]);
  expect(cudaGraphAddDependencies(graph, &host, &set, 1) == cudaSuccess);  // a circle
  expect(cudaGraphInstantiate(&exec, graph, 0) == cudaErrorInvalidValue);
  expect(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0) == cudaErrorInvalidValue);
  expect(cudaGraphRemoveDependencies(graph, &host, &set, 1) == cudaSuccess);
  expect(cudaGraphDestroyNode(host) == cudaSuccess);
  expect(cudaGraphGetNodes(graph, nullptr, &count) == 0 && count == 5);
  launch.blockDim = dim3(2048);
  expect(cudaGraphAddKernelNode(&kernel, graph, 0, 0, &launch) == cudaErrorInvalidConfiguration);
  cudaFree(d);
  return 0;
}
""",
    "updates": """
int main() {
  int *d, n = 4, out[4], value = 5;
  cudaMalloc(&d, 16);
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t kernel, back;
  cudaGraphCreate(&graph, 0);
  void* arguments[] = {&d, &n, &value};
  cudaGraphNodeParams node = {};
  node.type = cudaGraphNodeTypeKernel;
  node.kernel.func = (void*)fill, node.kernel.gridDim = dim3(1), node.kernel.blockDim = dim3(4);
  node.kernel.kernelParams = arguments;
  expect(cudaGraphAddNode(&kernel, graph, nullptr, nullptr, 0, &node) == cudaSuccess);
  cudaGraphAddMemcpyNode1D(&back, graph, &kernel, 1, out, d, 16, cudaMemcpyDeviceToHost);
  cudaGraphInstantiateWithFlags(&exec, graph);
  cudaKernelNodeParams launch;
  expect(cudaGraphKernelNodeGetParams(kernel, &launch) == 0 && launch.blockDim.x == 4);
  expect(*(int*)launch.kernelParams[2] == 5);
  value = 50, launch.kernelParams = arguments;
  expect(cudaGraphExecKernelNodeSetParams(exec, kernel, &launch) == cudaSuccess);
  cudaGraphLaunch(exec, s), cudaStreamSynchronize(s);
  expect(out[1] == 51);
  expect(cudaGraphExecMemcpyNodeSetParams1D(exec, back, out, d, 4, cudaMemcpyDeviceToHost) == 0);
  out[1] = 0;
  cudaGraphLaunch(exec, s), cudaStreamSynchronize(s);
  expect(out[0] == 50 && out[1] == 0);
  cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed);
  void* more;
  expect(cudaMalloc(&more, 4) == cudaSuccess);  // which a relaxed capture allows
  fill<<<1, 4, 0, s>>>(d, 4, 500);
  cudaMemcpyAsync(out, d, 16, cudaMemcpyDeviceToHost, s);
  cudaStreamEndCapture(s, &graph);
  cudaGraphExecUpdateResultInfo info;
  expect(cudaGraphExecUpdate(exec, graph, &info) == 0 && info.result == cudaGraphExecUpdateSuccess);
  cudaGraphLaunch(exec, s), cudaStreamSynchronize(s);
  expect(out[1] == 501);
  cudaGraphAddEmptyNode(&back, graph, 0, 0);
  expect(cudaGraphExecUpdate(exec, graph, &info) == cudaErrorGraphExecUpdateFailure);
  expect(info.result == cudaGraphExecUpdateErrorTopologyChanged);
  cudaFree(d), cudaFree(more);
  return 0;
}
""",
}

MISTAKES: dict[str, tuple[str, str]] = {
    "unsupported": (
        """
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  fill<<<1, 4, 0, s>>>(d, 4, 1);
  expect(cudaMalloc(&more, 4) == cudaErrorStreamCaptureUnsupported);  // LINE
  cudaStreamCaptureStatus status;
  expect(cudaStreamIsCapturing(s, &status) == 0);
  expect(status == cudaStreamCaptureStatusInvalidated);
  fill<<<1, 4, 0, s>>>(d, 4, 1);
  expect(cudaGetLastError() == cudaErrorStreamCaptureInvalidated);
  expect(cudaStreamEndCapture(s, &graph) == cudaErrorStreamCaptureInvalidated && !graph);
""",
        "cudaMalloc during the capture of a stream",
    ),
    "synchronised": (
        """
  cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed);
  expect(cudaStreamSynchronize(s) == cudaErrorStreamCaptureUnsupported);  // LINE
  cudaStreamEndCapture(s, &graph);
""",
        "cudaErrorStreamCaptureUnsupported",
    ),
    "legacy stream": (
        """
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  fill<<<1, 4>>>(d, 4, 1);  // LINE
  expect(cudaGetLastError() == cudaErrorStreamCaptureImplicit);
  cudaStreamEndCapture(s, &graph);
""",
        "cudaErrorStreamCaptureImplicit",
    ),
    "unjoined": (
        """
  cudaEvent_t e;
  cudaEventCreate(&e);
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  cudaEventRecord(e, s);
  cudaStreamWaitEvent(t, e);
  fill<<<1, 4, 0, t>>>(d, 4, 1);
  expect(cudaStreamEndCapture(t, &graph) == cudaErrorStreamCaptureUnmatched);
  cudaStreamEndCapture(s, &graph);
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  cudaEventRecord(e, s);
  cudaStreamWaitEvent(t, e);
  fill<<<1, 4, 0, t>>>(d, 4, 1);
  expect(cudaStreamEndCapture(s, &graph) == cudaErrorStreamCaptureUnjoined);  // LINE
""",
        "capturing stream has unjoined work",
    ),
    "isolated": (
        """
  cudaEvent_t e;
  cudaEventCreate(&e);
  cudaEventRecord(e, t);
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  expect(cudaStreamWaitEvent(s, e) == cudaErrorStreamCaptureIsolation);  // LINE
  cudaStreamEndCapture(s, &graph);
  expect(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal)
         == cudaErrorStreamCaptureUnsupported);
""",
        "cudaErrorStreamCaptureIsolation",
    ),
}

UNORDERED = """
int main() {
  int *a, *b, out[4];
  cudaMalloc(&a, 16), cudaMalloc(&b, 16);
  cudaMemset(a, 0, 16), cudaMemset(b, 0, 16);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t first, second, copy;
  cudaGraphCreate(&graph, 0);
  int n = 4, f = 2;
  void *one[] = {&a, &f, &n}, *two[] = {&b, &f, &n};
  cudaKernelNodeParams p = {(void*)times, dim3(1), dim3(4), 0, one, 0};
  cudaGraphAddKernelNode(&first, graph, 0, 0, &p);
  p.kernelParams = two;
  cudaGraphAddKernelNode(&second, graph, 0, 0, &p);
  cudaGraphAddMemcpyNode1D(&copy, graph, &%s, 1, out, b, 16, cudaMemcpyDeviceToHost);  // LINE
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, 0);
  cudaDeviceSynchronize();
  cudaFree(a), cudaFree(b);
  return 0;
}
"""


def run(text: str) -> tuple[Outcome, int]:
    """The outcome of a program with the kernels before it, and the line marked in it."""
    whole = CHECK + KERNELS + text
    marked = [n for n, line in enumerate(whole.splitlines(), 1) if "// LINE" in line]
    return outcome(whole), marked[0] if marked else 0


def _quick(names: Iterable[str], *quick: str) -> list[object]:
    return [name if name in quick else pytest.param(name, marks=pytest.mark.slow) for name in names]


@pytest.mark.parametrize("name", _quick(PROGRAMS, "streams join a capture by events"))
def test_graphs(name: str) -> None:
    ran, _ = run(PROGRAMS[name])
    said = [(f.kind, f.line, f.message) for f in ran.answer.faults if f.kind != "bad_launch"]
    assert (ran.answer.code, ran.stdout, said) == (0, "", [])


@pytest.mark.parametrize("name", _quick(MISTAKES, "unsupported"))
def test_a_capture_that_breaks_is_told_at_its_line(name: str) -> None:
    body, words = MISTAKES[name]
    setup = "  int *d;\n  void* more;\n  cudaMalloc(&d, 16);\n  cudaGraph_t graph;\n"
    setup += "  cudaStream_t s, t;\n  cudaStreamCreate(&s), cudaStreamCreate(&t);\n"
    ran, line = run(f"int main() {{\n{setup}{body}  cudaFree(d);\n  return 0;\n}}\n")
    assert (ran.answer.code, ran.stdout) == (0, "")
    found = [f for f in ran.answer.faults if f.kind == "bad_launch" and f.line == line]
    assert words in found[0].message
    assert not [f for f in ran.answer.faults if f.kind != "bad_launch"]


@pytest.mark.parametrize("waits", _quick(["first", "second"], "first"))
def test_a_copy_beside_the_kernel_whose_result_it_takes_is_found(waits: str) -> None:
    ran, line = run(UNORDERED % waits)
    found = [(f.kind, f.line) for f in ran.answer.faults]
    assert found == ([("unsynchronised_read", line)] if waits == "first" else [])
    launched = [c.kernel for c in ran.answer.trace if c.api == "kernel node"]
    assert launched == ["times", "times"]


def test_a_graphs_result_read_too_early_is_found() -> None:
    text = """
int main() {
  int* m;
  cudaMallocManaged(&m, 16);
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  fill<<<1, 4, 0, s>>>(m, 4, 3);
  cudaStreamEndCapture(s, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, s);
  int early = m[0];  // LINE
  cudaStreamSynchronize(s);
  cudaFree(m);
  return early == 3 ? 0 : 1;
}
"""
    ran, line = run(text)
    assert [(f.kind, f.line) for f in ran.answer.faults] == [("unsynchronised_read", line)]
    calls = [call.api for call in ran.answer.trace]
    assert calls.index("into a graph") < calls.index("cudaGraphLaunch") < calls.index("<<<>>>")
    done = {step.name: step.ok for step in steps(ran.answer.trace, 0, 1)}
    assert done["launched"] and done["covered"] and done["synchronised"]


def test_memory_of_a_graphs_own_ends_the_run_as_not_supported() -> None:
    text = """
int main() {
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  int* p;
  cudaMallocAsync(&p, 16, s);  // LINE
  return 0;
}
"""
    ran, line = run(text)
    assert ran.answer.ended == "unsupported"
    assert f"program.cu:{line}" in ran.answer.stopped_reason
