// Graphs: work that is described first, by capture of streams or node by node, and done when the
// graph is launched. (CUDA C++ Programming Guide, "CUDA Graphs"; CUDA Runtime API, cudaGraph*.)
//
// The host's side keeps them, since copies read and write the host's memory at each launch. The
// device's process sees the work of a launch as streams that wait for each other: "graph branch"
// makes one, "graph end" lets the stream of the launch wait for all.

enum {
  INVALID_VALUE = 1, INVALID_DEVICE_FUNCTION = 98, INVALID_HANDLE = 400, ILLEGAL_STATE = 401,
  NOT_IN_CAPTURE = 900, INVALIDATED, MERGED, UNMATCHED, UNJOINED, ISOLATED, IMPLICIT, CAPTURED_EVENT,
  UPDATE_FAILED = 910
};
enum { GLOBAL_MODE, THREAD_MODE, RELAXED_MODE };

typedef struct {
  GradeNode** at;
  size_t count;
} Nodes;
struct GradeNode {
  GradeGraph* graph;
  GradeNode* origin;  // in a copy: the node it was made from
  GradeWork work;
  Nodes before;
  size_t after;     // how many nodes wait for it, while a graph is sorted and run
  int enabled, mark;
  uint64_t stream;  // where it ran last
};
// One that was destroyed stays without its nodes: a later use is an error, not a crash.
struct GradeGraph {
  int alive, runs;
  Nodes nodes;
};

static struct { GradeGraph** at; size_t count; } all_graphs;

static void grow(void* list, size_t count, size_t size) {
  void** at = list;
  if ((count & (count - 1)) == 0) *at = realloc(*at, (count ? 2 * count : 1) * size);
}

static void append(Nodes* list, GradeNode* node) {
  grow(&list->at, list->count, sizeof *list->at);
  list->at[list->count++] = node;
}

static int has(const Nodes* list, const GradeNode* node) {
  for (size_t k = 0; k < list->count; ++k)
    if (list->at[k] == node) return 1;
  return 0;
}

static void append_new(Nodes* list, const Nodes* more) {
  for (size_t k = 0; k < more->count; ++k)
    if (!has(list, more->at[k])) append(list, more->at[k]);
}

static void clear(Nodes* list) {
  free(list->at);
  *list = (Nodes){0};
}

static int alive(const GradeGraph* graph, int runs) {
  for (size_t k = all_graphs.count; k-- > 0;)
    if (all_graphs.at[k] == graph) return graph->alive && graph->runs == runs;
  return 0;
}

// ---- graphs and their nodes --------------------------------------------------------------------

int grade_graph_create(GradeGraph** graph) {
  ONE_AT_A_TIME;
  *graph = calloc(1, sizeof **graph);
  (*graph)->alive = 1;
  grow(&all_graphs.at, all_graphs.count, sizeof *all_graphs.at);
  all_graphs.at[all_graphs.count++] = *graph;
  return 0;
}

static void forget_work(GradeWork* w) {
  if (w->does == GRADE_LAUNCH) free(w->launch.arguments);
  if (w->does == GRADE_GRAPH) grade_graph_destroy(w->graph);
}

static void free_node(GradeNode* node) {
  forget_work(&node->work);
  clear(&node->before);
  free(node);
}

int grade_graph_destroy(GradeGraph* graph) {
  ONE_AT_A_TIME;
  if (!alive(graph, 0) && !alive(graph, 1)) return INVALID_VALUE;
  for (size_t k = 0; k < graph->nodes.count; ++k) free_node(graph->nodes.at[k]);
  clear(&graph->nodes);
  graph->alive = 0;
  return 0;
}

// A copy that owns what the work needs: a kernel's arguments have the values of this moment.
static int keep_work(GradeWork* to, const GradeWork* from) {
  *to = *from;
  if (from->does == GRADE_GRAPH) return grade_graph_clone(&to->graph, from->graph);
  if (from->does != GRADE_LAUNCH) return 0;
  Kernel* kernel = known_kernel(from->launch.kernel, from->file, from->line);
  if (!kernel) return INVALID_DEVICE_FUNCTION;
  size_t bytes = 0;
  for (int k = 0; k < kernel->count; ++k) bytes += (kernel->sizes[k] + 15) & ~15u;
  void** arguments = malloc(kernel->count * sizeof(void*) + bytes + 16);
  char* at = (char*)(arguments + kernel->count);
  for (int k = 0; k < kernel->count; ++k) {
    memcpy(arguments[k] = at, from->launch.arguments[k], kernel->sizes[k]);
    at += (kernel->sizes[k] + 15) & ~15u;
  }
  to->launch.arguments = arguments;
  return 0;
}

int grade_graph_add(GradeNode** node, GradeGraph* graph, GradeNode* const* before, size_t count,
                    const GradeWork* work) {
  ONE_AT_A_TIME;
  if (!alive(graph, 0) || (count && !before)) return INVALID_VALUE;
  if (work->does == GRADE_GRAPH && !alive(work->graph, 0)) return INVALID_VALUE;
  for (size_t k = 0; k < count; ++k)
    if (!has(&graph->nodes, before[k])) return INVALID_VALUE;
  GradeNode* made = calloc(1, sizeof *made);
  made->graph = graph, made->enabled = 1;
  int status = keep_work(&made->work, work);
  if (status) return free(made), status;
  for (size_t k = 0; k < count; ++k)
    if (!has(&made->before, before[k])) append(&made->before, before[k]);
  append(&graph->nodes, made);
  if (node) *node = made;
  return 0;
}

static GradeNode* node_from(GradeGraph* copy, const GradeNode* origin) {
  for (size_t k = 0; k < copy->nodes.count; ++k)
    if (copy->nodes.at[k]->origin == origin) return copy->nodes.at[k];
  return 0;
}

int grade_graph_clone(GradeGraph** copy, GradeGraph* graph) {
  ONE_AT_A_TIME;
  if (!alive(graph, 0)) return INVALID_VALUE;
  grade_graph_create(copy);
  for (size_t k = 0; k < graph->nodes.count; ++k) {
    GradeNode *from = graph->nodes.at[k], *to;
    int status = grade_graph_add(&to, *copy, 0, 0, &from->work);
    if (status) return status;
    to->origin = from, to->enabled = from->enabled;
  }
  for (size_t k = 0; k < graph->nodes.count; ++k) {
    const Nodes* before = &graph->nodes.at[k]->before;
    for (size_t b = 0; b < before->count; ++b)
      append(&(*copy)->nodes.at[k]->before, node_from(*copy, before->at[b]));
  }
  return 0;
}

int grade_graph_join(GradeGraph* graph, GradeNode* const* from, GradeNode* const* to, size_t count,
                     int remove) {
  ONE_AT_A_TIME;
  if (!alive(graph, 0)) return INVALID_VALUE;
  for (size_t k = 0; k < count; ++k) {
    if (!has(&graph->nodes, from[k]) || !has(&graph->nodes, to[k])) return INVALID_VALUE;
    Nodes* before = &to[k]->before;
    if (has(before, from[k]) != remove) return INVALID_VALUE;
    if (!remove) {
      append(before, from[k]);
      continue;
    }
    Nodes kept = {0};
    for (size_t b = 0; b < before->count; ++b)
      if (before->at[b] != from[k]) append(&kept, before->at[b]);
    clear(before);
    *before = kept;
  }
  return 0;
}

// Hand `found` out as CUDA does: with no room only the count, otherwise up to as many as there is
// room for, and nulls for the rest.
static int hand_out(const Nodes* found, GradeNode** nodes, size_t* count) {
  for (size_t k = 0; nodes && k < *count; ++k) nodes[k] = k < found->count ? found->at[k] : 0;
  if (!nodes || *count > found->count) *count = found->count;
  return 0;
}

int grade_graph_nodes(GradeGraph* graph, GradeNode** nodes, size_t* count, int roots) {
  ONE_AT_A_TIME;
  if (!alive(graph, 0)) return INVALID_VALUE;
  Nodes found = {0};
  for (size_t k = 0; k < graph->nodes.count; ++k)
    if (!roots || !graph->nodes.at[k]->before.count) append(&found, graph->nodes.at[k]);
  hand_out(&found, nodes, count);
  clear(&found);
  return 0;
}

int grade_graph_edges(GradeGraph* graph, GradeNode** from, GradeNode** to, size_t* count) {
  ONE_AT_A_TIME;
  if (!alive(graph, 0)) return INVALID_VALUE;
  Nodes first = {0}, second = {0};
  for (size_t k = 0; k < graph->nodes.count; ++k)
    for (size_t b = 0; b < graph->nodes.at[k]->before.count; ++b)
      append(&first, graph->nodes.at[k]->before.at[b]), append(&second, graph->nodes.at[k]);
  size_t again = *count;
  hand_out(&first, from, count);
  hand_out(&second, to, &again);
  clear(&first), clear(&second);
  return 0;
}

int grade_node_near(GradeNode* node, GradeNode** nodes, size_t* count, int after) {
  ONE_AT_A_TIME;
  if (!node) return INVALID_VALUE;
  if (!after) return hand_out(&node->before, nodes, count);
  Nodes found = {0};
  for (size_t k = 0; k < node->graph->nodes.count; ++k)
    if (has(&node->graph->nodes.at[k]->before, node)) append(&found, node->graph->nodes.at[k]);
  hand_out(&found, nodes, count);
  clear(&found);
  return 0;
}

int grade_node_destroy(GradeNode* node) {
  ONE_AT_A_TIME;
  if (!node) return INVALID_VALUE;
  Nodes* nodes = &node->graph->nodes;
  for (size_t k = 0; k < nodes->count; ++k)
    if (has(&nodes->at[k]->before, node)) grade_graph_join(node->graph, &node, &nodes->at[k], 1, 1);
  Nodes kept = {0};
  for (size_t k = 0; k < nodes->count; ++k)
    if (nodes->at[k] != node) append(&kept, nodes->at[k]);
  clear(nodes);
  *nodes = kept;
  free_node(node);
  return 0;
}

int grade_node_type(GradeNode* node, int* type) {
  ONE_AT_A_TIME;
  static const int types[] = {5, 1, 2, 1, 0, 3, 4, 7, 6};  // cudaGraphNodeType, by GRADE_*
  if (!node) return INVALID_VALUE;
  *type = types[node->work.does];
  return 0;
}

static GradeNode* node_of(GradeGraph* exec, GradeNode* node) {
  if (!node || !exec) return node;
  return alive(exec, 1) ? node_from(exec, node) : 0;
}

int grade_node_set(GradeGraph* exec, GradeNode* node, const GradeWork* work) {
  ONE_AT_A_TIME;
  GradeNode* mine = node_of(exec, node);
  if (!mine) return INVALID_VALUE;
  int copies = work->does == GRADE_COPY || work->does == GRADE_SYMBOL;
  int same = copies ? mine->work.does == GRADE_COPY || mine->work.does == GRADE_SYMBOL
                    : mine->work.does == work->does;
  GradeWork kept;
  int status = same ? keep_work(&kept, work) : INVALID_VALUE;
  if (status) return status;
  forget_work(&mine->work);
  mine->work = kept;
  return 0;
}

int grade_node_get(GradeNode* node, int does, GradeWork* work) {
  ONE_AT_A_TIME;
  if (!node || node->work.does != does) return INVALID_VALUE;
  *work = node->work;
  return 0;
}

int grade_node_enable(GradeGraph* exec, GradeNode* node, int enabled) {
  ONE_AT_A_TIME;
  GradeNode* mine = exec ? node_of(exec, node) : 0;
  if (!mine) return INVALID_VALUE;
  mine->enabled = enabled;
  return 0;
}

int grade_node_enabled(GradeGraph* exec, GradeNode* node, unsigned* enabled) {
  ONE_AT_A_TIME;
  GradeNode* mine = exec ? node_of(exec, node) : 0;
  if (!mine) return INVALID_VALUE;
  *enabled = mine->enabled;
  return 0;
}

// ---- graphs that run ---------------------------------------------------------------------------

// Nodes behind all that they wait for; 0 where they wait in a circle.
static int sort(GradeGraph* graph) {
  Nodes sorted = {0};
  for (size_t k = 0; k < graph->nodes.count; ++k)
    graph->nodes.at[k]->mark = 0, graph->nodes.at[k]->after = 0;
  for (size_t found = 1; found;) {
    found = 0;
    for (size_t k = 0; k < graph->nodes.count; ++k) {
      GradeNode* node = graph->nodes.at[k];
      int ready = !node->mark;
      for (size_t b = 0; b < node->before.count; ++b) ready &= node->before.at[b]->mark;
      if (!ready) continue;
      node->mark = 1, ++found;
      append(&sorted, node);
      for (size_t b = 0; b < node->before.count; ++b) ++node->before.at[b]->after;
    }
  }
  int whole = sorted.count == graph->nodes.count;
  clear(whole ? &graph->nodes : &sorted);
  if (whole) graph->nodes = sorted;
  for (size_t k = 0; whole && k < graph->nodes.count; ++k)
    if (graph->nodes.at[k]->work.does == GRADE_GRAPH) whole = sort(graph->nodes.at[k]->work.graph);
  return whole;
}

int grade_graph_start(GradeGraph** exec, GradeGraph* graph) {
  ONE_AT_A_TIME;
  GradeGraph* made;
  int status = grade_graph_clone(&made, graph);
  if (!status && !sort(made)) status = INVALID_VALUE;
  if (status) return status;
  made->runs = 1;
  *exec = made;
  return 0;
}

// A stream that begins when all of `streams` have ended.
static uint64_t branch(const uint64_t* streams, size_t count) {
  uint64_t made[1] = {0};
  talk("graph branch", "", 0, 0, 0, streams, 8 * count, made, 0, 0, 0, 0);
  return made[0];
}

static void add_stream(uint64_t* streams, size_t* count, uint64_t stream) {
  for (size_t k = 0; k < *count; ++k)
    if (streams[k] == stream) return;
  streams[(*count)++] = stream;
}

// Run a sorted graph after the work in `start`; the stream that ends behind all of it.
static uint64_t run(GradeGraph* graph, uint64_t start, int* status) {
  size_t roots = 0, ends = 0;
  for (size_t k = 0; k < graph->nodes.count; ++k) roots += !graph->nodes.at[k]->before.count;
  uint64_t* streams = malloc((graph->nodes.count + 1) * sizeof *streams);
  for (size_t k = 0; k < graph->nodes.count; ++k) {
    GradeNode* node = graph->nodes.at[k];
    const Nodes* before = &node->before;
    size_t count = 0;
    for (size_t b = 0; b < before->count; ++b) add_stream(streams, &count, before->at[b]->stream);
    if (!count) streams[count++] = start;
    int alone = before->count ? before->count == 1 && before->at[0]->after == 1 : roots == 1;
    node->stream = alone ? streams[0] : branch(streams, count);
    if (!node->enabled) continue;
    if (node->work.does == GRADE_GRAPH) {
      node->stream = run(node->work.graph, node->stream, status);
      continue;
    }
    int now = perform(&node->work, (void*)node->stream, 1);
    if (now && !*status) *status = now;
  }
  for (size_t k = 0; k < graph->nodes.count; ++k)
    if (!graph->nodes.at[k]->after) add_stream(streams, &ends, graph->nodes.at[k]->stream);
  uint64_t end = ends == 0 ? start : ends == 1 ? streams[0] : branch(streams, ends);
  free(streams);
  return end;
}

int grade_graph_launch(GradeGraph* exec, void* stream, const char* file, int line) {
  ONE_AT_A_TIME;
  if (!alive(exec, 1)) return INVALID_VALUE;
  GradeWork captured = {GRADE_GRAPH, "cudaGraphLaunch", file, line};
  captured.graph = exec;
  int status = 0;
  exec->runs = 0;  // in a capture it becomes a child of the other graph
  int kept = capture(&captured, stream, &status);
  exec->runs = 1;
  if (kept) return status;
  uint64_t a[2] = {(uint64_t)stream};
  status = grade_call("cudaGraphLaunch", file, line, a, 1, 0, 0, 0, 0, 0);
  if (status) return status;
  a[1] = run(exec, a[0], &status);
  if (a[1] != a[0]) talk("graph end", file, line, a, 2, 0, 0, 0, 0, 0, 0, 0);
  return status;
}

// cudaGraphExecUpdate: `result` is a cudaGraphExecUpdateResult.
int grade_graph_update(GradeGraph* exec, GradeGraph* graph, GradeNode** culprit, int* result) {
  ONE_AT_A_TIME;
  enum { SUCCESS, ERROR, TOPOLOGY, TYPE };
  *result = ERROR, *culprit = 0;
  GradeGraph* other;
  if (!alive(exec, 1) || grade_graph_start(&other, graph)) return INVALID_VALUE;
  *result = other->nodes.count == exec->nodes.count ? SUCCESS : TOPOLOGY;
  for (size_t k = 0; k < other->nodes.count && *result == SUCCESS; ++k) {
    GradeNode *to = exec->nodes.at[k], *from = other->nodes.at[k];
    if (to->work.does != from->work.does) *result = TYPE, *culprit = from->origin;
    int same = to->before.count == from->before.count;
    for (size_t b = 0; same && b < to->before.count; ++b) {
      size_t at = 0;
      while (exec->nodes.at[at] != to->before.at[b]) ++at;
      same = has(&from->before, other->nodes.at[at]);
    }
    if (!same && *result == SUCCESS) *result = TOPOLOGY, *culprit = from->origin;
  }
  for (size_t k = 0; k < other->nodes.count && *result == SUCCESS; ++k) {
    GradeWork kept = exec->nodes.at[k]->work;
    exec->nodes.at[k]->work = other->nodes.at[k]->work, other->nodes.at[k]->work = kept;
    if (kept.does == GRADE_GRAPH) sort(exec->nodes.at[k]->work.graph);
  }
  grade_graph_destroy(other);
  return *result == SUCCESS ? 0 : UPDATE_FAILED;
}
