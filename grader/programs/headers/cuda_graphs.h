// CUDA graphs and stream capture (runtime/graphs.c).
#pragma once
typedef GradeGraph* cudaGraph_t;
// A graph that can be launched is a copy of the other, but no graph to add nodes to.
typedef struct CUgraphExec_st* cudaGraphExec_t;
typedef GradeNode* cudaGraphNode_t;
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed
};
enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive, cudaStreamCaptureStatusInvalidated
};
enum cudaGraphNodeType {
  cudaGraphNodeTypeKernel, cudaGraphNodeTypeMemcpy, cudaGraphNodeTypeMemset, cudaGraphNodeTypeHost,
  cudaGraphNodeTypeGraph, cudaGraphNodeTypeEmpty, cudaGraphNodeTypeWaitEvent,
  cudaGraphNodeTypeEventRecord
};
enum cudaGraphExecUpdateResult {
  cudaGraphExecUpdateSuccess, cudaGraphExecUpdateError, cudaGraphExecUpdateErrorTopologyChanged,
  cudaGraphExecUpdateErrorNodeTypeChanged
};
struct cudaGraphExecUpdateResultInfo {
  cudaGraphExecUpdateResult result;
  cudaGraphNode_t errorNode, errorFromNode;
};
#define cudaGraphInstantiateFlagAutoFreeOnLaunch 1
#define cudaGraphInstantiateFlagUpload 2
#define cudaGraphInstantiateFlagUseNodePriority 8
struct cudaGraphEdgeData { unsigned char from_port, to_port, type, reserved[5]; };
struct cudaKernelNodeParams {
  void* func;
  dim3 gridDim, blockDim;
  unsigned sharedMemBytes;
  void **kernelParams, **extra;
};
struct cudaMemsetParams {
  void* dst;
  size_t pitch;
  unsigned value, elementSize;
  size_t width, height;
};
struct cudaHostNodeParams { cudaHostFn_t fn; void* userData; };
struct cudaKernelNodeParamsV2 : cudaKernelNodeParams {};
struct cudaMemsetParamsV2 : cudaMemsetParams {};
struct cudaHostNodeParamsV2 : cudaHostNodeParams {};
struct cudaMemcpyNodeParams { int flags, reserved[3]; cudaMemcpy3DParms copyParams; };
struct cudaChildGraphNodeParams { cudaGraph_t graph; };
struct cudaEventRecordNodeParams { cudaEvent_t event; };
struct cudaGraphNodeParams {
  cudaGraphNodeType type;
  cudaKernelNodeParamsV2 kernel;
  cudaMemcpyNodeParams memcpy;
  cudaMemsetParamsV2 memset;
  cudaHostNodeParamsV2 host;
  cudaChildGraphNodeParams graph;
  cudaEventRecordNodeParams eventRecord, eventWait;
};

namespace grade {
inline GradeGraph* graph_of(cudaGraphExec_t exec) { return (GradeGraph*)exec; }
// The end of a call: what it came to is told, and returned.
inline cudaError_t came_to(int status, const char* name, const char* file, int line) {
  Call c(status);
  return c.with(name, strlen(name))("came to", file, line);
}
inline GradeWork work(int does, const char* name, const char* file, int line) {
  GradeWork w = {};
  w.does = does, w.name = name, w.file = file, w.line = line;
  return w;
}
inline GradeWork work_of(const cudaKernelNodeParams& p, const char* file, int line) {
  GradeWork w = work(GRADE_LAUNCH, "kernel node", file, line);
  w.launch = {p.func, {p.gridDim.x, p.gridDim.y, p.gridDim.z},
              {p.blockDim.x, p.blockDim.y, p.blockDim.z}, p.sharedMemBytes, p.kernelParams};
  return w;
}
inline GradeWork work_of(const cudaMemcpy3DParms& p, const char* file, int line) {
  GradeWork w = work(GRADE_COPY, "copy node", file, line);
  w.copy = copy_of(p);
  return w;
}
inline GradeWork work_of(const cudaMemsetParams& p, const char* file, int line) {
  GradeWork w = work(GRADE_FILL, "fill node", file, line);
  w.fill = {p.dst, p.pitch, p.width * p.elementSize, p.height, p.value, p.elementSize};
  return w;
}
inline GradeWork work_of(const cudaHostNodeParams& p, const char* file, int line) {
  GradeWork w = work(GRADE_HOST, "cudaLaunchHostFunc", file, line);
  w.host = {p.fn, p.userData};
  return w;
}
inline GradeWork flat_copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                           const char* file, int line) {
  GradeWork w = work(GRADE_COPY, "copy node", file, line);
  w.copy = {to, bytes, 0, from, bytes, 0, bytes, 1, 1, kind};
  return w;
}
inline GradeWork symbol_copy(const void* shadow, const void* data, size_t bytes, size_t offset,
                             cudaMemcpyKind kind, bool out, const char* file, int line) {
  GradeWork w = work(GRADE_SYMBOL, "symbol node", file, line);
  w.symbol = {shadow, (void*)data, bytes, offset, kind, out};
  return w;
}
inline GradeWork work_of(const cudaGraphNodeParams& p, const char* file, int line) {
  GradeWork w = work(GRADE_NOTHING, "cudaGraphAddNode", file, line);
  switch (p.type) {
    case cudaGraphNodeTypeKernel: return work_of(p.kernel, file, line);
    case cudaGraphNodeTypeMemcpy: return work_of(p.memcpy.copyParams, file, line);
    case cudaGraphNodeTypeMemset: return work_of(p.memset, file, line);
    case cudaGraphNodeTypeHost: return work_of(p.host, file, line);
    case cudaGraphNodeTypeGraph: w.does = GRADE_GRAPH, w.graph = p.graph.graph; break;
    case cudaGraphNodeTypeWaitEvent: w.does = GRADE_WAIT, w.event = p.eventWait.event; break;
    case cudaGraphNodeTypeEventRecord: w.does = GRADE_RECORD, w.event = p.eventRecord.event; break;
    case cudaGraphNodeTypeEmpty: break;
  }
  return w;
}
inline cudaError_t add(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                       size_t count, const GradeWork& w, const char* name) {
  int status = w.does == GRADE_LAUNCH ? grade_check_launch(&w) : 0;
  if (!status) status = grade_graph_add(node, graph, before, count, &w);
  return came_to(status, name, w.file, w.line);
}
inline cudaError_t set(cudaGraphExec_t exec, cudaGraphNode_t node, const GradeWork& w,
                       const char* name) {
  int status = w.does == GRADE_LAUNCH ? grade_check_launch(&w) : 0;
  if (!status) status = grade_node_set(graph_of(exec), node, &w);
  return came_to(status, name, w.file, w.line);
}
}  // namespace grade

// ---- capture -----------------------------------------------------------------------------------
inline cudaError_t cudaStreamBeginCapture(cudaStream_t s, cudaStreamCaptureMode mode, GRADE_AT) {
  return (cudaError_t)grade_capture_begin(s, mode, file, line);
}
inline cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t* graph, GRADE_AT) {
  return (cudaError_t)grade_capture_end(s, graph, file, line);
}
inline cudaError_t cudaStreamIsCapturing(cudaStream_t s, cudaStreamCaptureStatus* status,
                                         GRADE_AT) {
  int found = 0;
  int e = grade_capture_status("cudaStreamIsCapturing", s, &found, 0, 0, 0, 0, file, line);
  *status = (cudaStreamCaptureStatus)found;
  return (cudaError_t)e;
}
inline cudaError_t cudaStreamGetCaptureInfo(cudaStream_t s, cudaStreamCaptureStatus* status,
                                            unsigned long long* id = 0, cudaGraph_t* graph = 0,
                                            const cudaGraphNode_t** last = 0, size_t* count = 0,
                                            GRADE_AT) {
  int found = 0;
  uint64_t number = 0;
  int e = grade_capture_status("cudaStreamGetCaptureInfo", s, &found, &number, graph,
                               (cudaGraphNode_t**)last, count, file, line);
  *status = (cudaStreamCaptureStatus)found;
  if (id) *id = number;
  return (cudaError_t)e;
}
#define cudaStreamGetCaptureInfo_v2 cudaStreamGetCaptureInfo
inline cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return (cudaError_t)grade_capture_mode((int*)mode);
}

// ---- graphs ------------------------------------------------------------------------------------
inline cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned, GRADE_AT) {
  return grade::came_to(grade_graph_create(graph), "cudaGraphCreate", file, line);
}
inline cudaError_t cudaGraphClone(cudaGraph_t* copy, cudaGraph_t graph, GRADE_AT) {
  return grade::came_to(grade_graph_clone(copy, graph), "cudaGraphClone", file, line);
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t graph, GRADE_AT) {
  return grade::came_to(grade_graph_destroy(graph), "cudaGraphDestroy", file, line);
}
inline cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                          const cudaGraphNode_t* before, size_t count,
                                          const cudaKernelNodeParams* p, GRADE_AT) {
  return grade::add(node, graph, before, count, grade::work_of(*p, file, line),
                    "cudaGraphAddKernelNode");
}
inline cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                          const cudaGraphNode_t* before, size_t count,
                                          const cudaMemcpy3DParms* p, GRADE_AT) {
  return grade::add(node, graph, before, count, grade::work_of(*p, file, line),
                    "cudaGraphAddMemcpyNode");
}
inline cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                            const cudaGraphNode_t* before, size_t count, void* to,
                                            const void* from, size_t bytes, cudaMemcpyKind kind,
                                            GRADE_AT) {
  return grade::add(node, graph, before, count,
                    grade::flat_copy(to, from, bytes, kind, file, line),
                    "cudaGraphAddMemcpyNode1D");
}
template <class T>
inline cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                                  const cudaGraphNode_t* before, size_t count,
                                                  const T& symbol, const void* from, size_t bytes,
                                                  size_t offset, cudaMemcpyKind kind, GRADE_AT) {
  return grade::add(node, graph, before, count,
                    grade::symbol_copy((const void*)&symbol, from, bytes, offset, kind, false, file,
                                       line),
                    "cudaGraphAddMemcpyNodeToSymbol");
}
template <class T>
inline cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                                    const cudaGraphNode_t* before, size_t count,
                                                    void* to, const T& symbol, size_t bytes,
                                                    size_t offset, cudaMemcpyKind kind, GRADE_AT) {
  return grade::add(node, graph, before, count,
                    grade::symbol_copy((const void*)&symbol, to, bytes, offset, kind, true, file,
                                       line),
                    "cudaGraphAddMemcpyNodeFromSymbol");
}
inline cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                          const cudaGraphNode_t* before, size_t count,
                                          const cudaMemsetParams* p, GRADE_AT) {
  return grade::add(node, graph, before, count, grade::work_of(*p, file, line),
                    "cudaGraphAddMemsetNode");
}
inline cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* before, size_t count,
                                        const cudaHostNodeParams* p, GRADE_AT) {
  return grade::add(node, graph, before, count, grade::work_of(*p, file, line),
                    "cudaGraphAddHostNode");
}
inline cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                         const cudaGraphNode_t* before, size_t count, GRADE_AT) {
  GradeWork w = grade::work(GRADE_NOTHING, "cudaGraphAddEmptyNode", file, line);
  return grade::add(node, graph, before, count, w, w.name);
}
inline cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                              const cudaGraphNode_t* before, size_t count,
                                              cudaGraph_t child, GRADE_AT) {
  GradeWork w = grade::work(GRADE_GRAPH, "cudaGraphAddChildGraphNode", file, line);
  w.graph = child;
  return grade::add(node, graph, before, count, w, w.name);
}
inline cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                               const cudaGraphNode_t* before, size_t count,
                                               cudaEvent_t event, GRADE_AT) {
  GradeWork w = grade::work(GRADE_RECORD, "cudaGraphAddEventRecordNode", file, line);
  w.event = event;
  return grade::add(node, graph, before, count, w, w.name);
}
inline cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                             const cudaGraphNode_t* before, size_t count,
                                             cudaEvent_t event, GRADE_AT) {
  GradeWork w = grade::work(GRADE_WAIT, "cudaGraphAddEventWaitNode", file, line);
  w.event = event;
  return grade::add(node, graph, before, count, w, w.name);
}
inline cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* before, size_t count,
                                    cudaGraphNodeParams* p, GRADE_AT) {
  return grade::add(node, graph, before, count, grade::work_of(*p, file, line), "cudaGraphAddNode");
}
inline cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* before, const cudaGraphEdgeData*,
                                    size_t count, cudaGraphNodeParams* p, GRADE_AT) {
  return cudaGraphAddNode(node, graph, before, count, p, file, line);
}
inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                            const cudaGraphNode_t* to, size_t count, GRADE_AT) {
  return grade::came_to(grade_graph_join(graph, from, to, count, 0), "cudaGraphAddDependencies",
                        file, line);
}
inline cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                               const cudaGraphNode_t* to, size_t count, GRADE_AT) {
  return grade::came_to(grade_graph_join(graph, from, to, count, 1), "cudaGraphRemoveDependencies",
                        file, line);
}
inline cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count,
                                     GRADE_AT) {
  return grade::came_to(grade_graph_nodes(graph, nodes, count, 0), "cudaGraphGetNodes", file, line);
}
inline cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count,
                                         GRADE_AT) {
  return grade::came_to(grade_graph_nodes(graph, nodes, count, 1), "cudaGraphGetRootNodes", file,
                        line);
}
inline cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                                     size_t* count, GRADE_AT) {
  return grade::came_to(grade_graph_edges(graph, from, to, count), "cudaGraphGetEdges", file, line);
}
inline cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node, GRADE_AT) {
  return grade::came_to(grade_node_destroy(node), "cudaGraphDestroyNode", file, line);
}
inline cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type, GRADE_AT) {
  int found = 0;
  int e = grade_node_type(node, &found);
  *type = (cudaGraphNodeType)found;
  return grade::came_to(e, "cudaGraphNodeGetType", file, line);
}
inline cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                                size_t* count, GRADE_AT) {
  return grade::came_to(grade_node_near(node, nodes, count, 0), "cudaGraphNodeGetDependencies",
                        file, line);
}
inline cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                                  size_t* count, GRADE_AT) {
  return grade::came_to(grade_node_near(node, nodes, count, 1), "cudaGraphNodeGetDependentNodes",
                        file, line);
}

// ---- graphs that run ---------------------------------------------------------------------------
namespace grade {
// A place as one argument: with two, a call that gives NULL, NULL and 0 would fit this one as well.
struct Place {
  const char* file;
  int line;
  explicit Place(const char* f = __builtin_FILE(), int l = __builtin_LINE()) : file(f), line(l) {}
};
}  // namespace grade
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                        unsigned long long = 0,
                                        grade::Place at = grade::Place()) {
  return grade::came_to(grade_graph_start((GradeGraph**)exec, graph), "cudaGraphInstantiate",
                        at.file, at.line);
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                        cudaGraphNode_t* culprit, char* log, size_t room,
                                        GRADE_AT) {
  if (culprit) *culprit = 0;
  if (log && room) *log = 0;
  return cudaGraphInstantiate(exec, graph, 0ull, grade::Place(file, line));
}
inline cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                                 unsigned long long flags = 0, GRADE_AT) {
  return cudaGraphInstantiate(exec, graph, flags, grade::Place(file, line));
}
inline cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t, GRADE_AT) {
  return grade::came_to(cudaSuccess, "cudaGraphUpload", file, line);
}
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t s, GRADE_AT) {
  return (cudaError_t)grade_graph_launch(grade::graph_of(exec), s, file, line);
}
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec, GRADE_AT) {
  return grade::came_to(grade_graph_destroy(grade::graph_of(exec)), "cudaGraphExecDestroy", file,
                        line);
}
inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                       cudaGraphExecUpdateResultInfo* info, GRADE_AT) {
  int result = 0;
  cudaGraphNode_t culprit = 0;
  int e = grade_graph_update(grade::graph_of(exec), graph, &culprit, &result);
  *info = {(cudaGraphExecUpdateResult)result, culprit, 0};
  return grade::came_to(e, "cudaGraphExecUpdate", file, line);
}
inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                       cudaGraphNode_t* culprit, cudaGraphExecUpdateResult* result,
                                       GRADE_AT) {
  cudaGraphExecUpdateResultInfo info;
  cudaError_t e = cudaGraphExecUpdate(exec, graph, &info, file, line);
  if (culprit) *culprit = info.errorNode;
  *result = info.result;
  return e;
}

// ---- what a node does --------------------------------------------------------------------------
inline cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* p,
                                                GRADE_AT) {
  GradeWork w = {};
  int e = grade_node_get(node, GRADE_LAUNCH, &w);
  const GradeLaunch& l = w.launch;
  if (!e)
    *p = {(void*)l.kernel, dim3(l.grid.x, l.grid.y, l.grid.z), dim3(l.block.x, l.block.y, l.block.z),
          (unsigned)l.shared, l.arguments, 0};
  return grade::came_to(e, "cudaGraphKernelNodeGetParams", file, line);
}
inline cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* p,
                                                GRADE_AT) {
  GradeWork w = {};
  int e = grade_node_get(node, GRADE_FILL, &w);
  const GradeFill& f = w.fill;
  if (!e) *p = {f.to, f.pitch, f.value, f.element, f.width / f.element, f.rows};
  return grade::came_to(e, "cudaGraphMemsetNodeGetParams", file, line);
}
inline cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* p,
                                              GRADE_AT) {
  GradeWork w = {};
  int e = grade_node_get(node, GRADE_HOST, &w);
  if (!e) *p = {w.host.function, w.host.data};
  return grade::came_to(e, "cudaGraphHostNodeGetParams", file, line);
}
#define GRADE_SETS(Name, Params)                                                                  \
  inline cudaError_t cudaGraph##Name##SetParams(cudaGraphNode_t node, const Params* p, GRADE_AT) { \
    return grade::set(0, node, grade::work_of(*p, file, line), "cudaGraph" #Name "SetParams");    \
  }                                                                                               \
  inline cudaError_t cudaGraphExec##Name##SetParams(cudaGraphExec_t exec, cudaGraphNode_t node,   \
                                                    const Params* p, GRADE_AT) {                  \
    if (!exec) return grade::came_to(1, "cudaGraphExec" #Name "SetParams", file, line);           \
    return grade::set(exec, node, grade::work_of(*p, file, line),                                 \
                      "cudaGraphExec" #Name "SetParams");                                         \
  }
GRADE_SETS(KernelNode, cudaKernelNodeParams)
GRADE_SETS(MemcpyNode, cudaMemcpy3DParms)
GRADE_SETS(MemsetNode, cudaMemsetParams)
GRADE_SETS(HostNode, cudaHostNodeParams)
GRADE_SETS(Node, cudaGraphNodeParams)
#undef GRADE_SETS
inline cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from,
                                                  size_t bytes, cudaMemcpyKind kind, GRADE_AT) {
  return grade::set(0, node, grade::flat_copy(to, from, bytes, kind, file, line),
                    "cudaGraphMemcpyNodeSetParams1D");
}
inline cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                      void* to, const void* from, size_t bytes,
                                                      cudaMemcpyKind kind, GRADE_AT) {
  if (!exec) return grade::came_to(1, "cudaGraphExecMemcpyNodeSetParams1D", file, line);
  return grade::set(exec, node, grade::flat_copy(to, from, bytes, kind, file, line),
                    "cudaGraphExecMemcpyNodeSetParams1D");
}
inline cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           unsigned enabled, GRADE_AT) {
  return grade::came_to(grade_node_enable(grade::graph_of(exec), node, enabled),
                        "cudaGraphNodeSetEnabled", file, line);
}
inline cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           unsigned* enabled, GRADE_AT) {
  return grade::came_to(grade_node_enabled(grade::graph_of(exec), node, enabled),
                        "cudaGraphNodeGetEnabled", file, line);
}
