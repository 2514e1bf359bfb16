// Capture: what streams are given, until the capture ends, becomes nodes of a graph (graphs.c).

typedef struct {
  uint64_t number;
  GradeGraph* graph;
  void* origin;
  int mode, blocking, broken, line;
} Capture;
// A stream that takes part: what its next work waits for.
typedef struct {
  void* stream;
  Capture* in;
  Nodes last;
} Capturing;
// An event that was last recorded in one.
typedef struct {
  void* event;
  uint64_t number;
  Nodes last;
} Marked;

static struct { Capture** at; size_t count; } captures;
static struct { Capturing** at; size_t count; } capturing;
static struct { Marked** at; size_t count; } marked;
static uint64_t capture_number;
static int thread_mode = GLOBAL_MODE;

static int is_legacy(void* stream) { return (uint64_t)stream <= 1; }

static Capturing* capturing_at(void* stream) {
  for (size_t k = 0; k < capturing.count; ++k)
    if (capturing.at[k]->stream == stream) return capturing.at[k];
  return 0;
}

static Capture* capture_of(uint64_t number) {
  for (size_t k = 0; k < captures.count; ++k)
    if (captures.at[k]->number == number) return captures.at[k];
  return 0;
}

static Marked* mark_of(void* event) {
  for (size_t k = 0; k < marked.count; ++k)
    if (marked.at[k]->event == event) return marked.at[k];
  return 0;
}

static void unmark(void* event) {
  for (size_t k = 0; k < marked.count; ++k)
    if (marked.at[k]->event == event) {
      clear(&marked.at[k]->last), free(marked.at[k]);
      marked.at[k--] = marked.at[--marked.count];
    }
}

// An error of capture: the capture is void from now on.
static int refuse(const char* api, const char* file, int line, int status, Capture* in) {
  uint64_t a[2] = {status, in ? in->line : 0};
  if (in) in->broken = 1;
  talk("refused", file, line, a, 2, api, strlen(api), 0, 0, 0, 0, &status);
  return status;
}

static Capturing* join(void* stream, Capture* in) {
  Capturing* made = calloc(1, sizeof *made);
  made->stream = stream, made->in = in;
  grow(&capturing.at, capturing.count, sizeof *capturing.at);
  return capturing.at[capturing.count++] = made;
}

// The capture that the legacy stream would have to wait for, or begin after.
static Capture* blocking_capture(void) {
  for (size_t k = 0; k < captures.count; ++k)
    if (captures.at[k]->blocking && !captures.at[k]->broken) return captures.at[k];
  return 0;
}

static int capture_forbids(const char* api, void* stream, const char* file, int line) {
  Capture* in = is_legacy(stream) ? blocking_capture() : 0;
  return in ? refuse(api, file, line, IMPLICIT, in) : 0;
}

static int call_in_capture(const char* name, const char* file, int line, const uint64_t* a) {
  // What each must not do: wait for everything, allocate while work is only described, use the
  // legacy stream; or the number that is its stream, or its event.
  enum { WAITS = -1, ALLOCATES = -2, LEGACY = -3, EVENT = 100 };
  static const struct { const char* name; int rule; } rules[] = {
      {"cudaDeviceSynchronize", WAITS},    {"cudaMalloc", ALLOCATES},
      {"cudaMallocPitch", ALLOCATES},      {"cudaMallocManaged", ALLOCATES},
      {"cudaMallocHost", ALLOCATES},       {"cudaHostAlloc", ALLOCATES},
      {"cudaFree", ALLOCATES},             {"cudaFreeHost", ALLOCATES},
      {"cudaMallocArray", ALLOCATES},      {"cudaMalloc3DArray", ALLOCATES},
      {"cudaFreeArray", ALLOCATES},        {"cudaMemcpy2DToArray", LEGACY},
      {"cudaMemcpyToArray", LEGACY},       {"cudaMemcpy2DFromArray", LEGACY},
      {"cudaHostRegister", ALLOCATES},     {"cudaHostUnregister", ALLOCATES},
      {"cudaMemcpy", LEGACY},              {"cudaMemcpy2D", LEGACY},
      {"cudaMemcpy3D", LEGACY},            {"cudaMemcpyToSymbol", LEGACY},
      {"cudaMemcpyFromSymbol", LEGACY},    {"cudaMemset", LEGACY},
      {"cudaMemset2D", LEGACY},            {"cudaMemset3D", LEGACY},
      {"cudaMemcpyAsync", 7},              {"cudaMemcpy2DAsync", 7},
      {"cudaMemcpy3DAsync", 7},            {"cudaMemcpyToSymbolAsync", 4},
      {"cudaMemcpyFromSymbolAsync", 4},    {"cudaMemsetAsync", 5},
      {"cudaMemset2DAsync", 5},            {"cudaMemset3DAsync", 5},
      {"cudaLaunchHostFunc", 0},           {"cudaStreamSynchronize", 0},
      {"cudaStreamQuery", 0},              {"cudaGraphLaunch", 0},
      {"cudaStreamWaitEvent", 0},          {"cudaEventRecord", 1},
      {"cudaEventSynchronize", EVENT},     {"cudaEventQuery", EVENT},
      {"cudaEventElapsedTime", EVENT},
  };
  if (!captures.count && !marked.count) return 0;
  int rule = -100;
  for (size_t k = 0; k < sizeof rules / sizeof *rules; ++k)
    if (!strcmp(rules[k].name, name)) rule = rules[k].rule;
  if (rule == EVENT) {
    Marked* mark = mark_of((void*)a[0]);
    return mark ? refuse(name, file, line, CAPTURED_EVENT, capture_of(mark->number)) : 0;
  }
  if (rule >= 0) {
    Capturing* at = capturing_at((void*)a[rule]);
    if (!at) return capture_forbids(name, (void*)a[rule], file, line);
    return refuse(name, file, line, at->in->broken ? INVALIDATED : NOT_IN_CAPTURE, at->in);
  }
  int status = rule == LEGACY ? capture_forbids(name, 0, file, line) : 0;
  for (size_t k = 0; k < captures.count && !status && rule >= LEGACY; ++k) {
    Capture* in = captures.at[k];
    int unsafe = rule == WAITS || (in->mode != RELAXED_MODE && thread_mode != RELAXED_MODE);
    if (unsafe && !in->broken) status = refuse(name, file, line, NOT_IN_CAPTURE, in);
  }
  return status;
}

// Whether `stream` is captured: then the work becomes a node, and `status` says how that went.
static int capture(const GradeWork* work, void* stream, int* status) {
  ONE_AT_A_TIME;
  Capturing* at = captures.count ? capturing_at(stream) : 0;
  if (!at) return 0;
  *status = 0;
  if (at->in->broken) {
    *status = refuse(work->name, work->file, work->line, INVALIDATED, at->in);
    return 1;
  }
  if (work->does == GRADE_LAUNCH) *status = grade_check_launch(work);
  GradeNode* node;
  if (!*status)
    *status = grade_graph_add(&node, at->in->graph, at->last.at, at->last.count, work);
  if (!*status) clear(&at->last), append(&at->last, node);
  return 1;
}

// Whether CUDA would refuse this launch: a graph takes no node for it.
int grade_check_launch(const GradeWork* work) {
  const GradeLaunch* l = &work->launch;
  const char* name = grade_kernel(l->kernel);
  uint64_t a[7] = {l->grid.x, l->grid.y, l->grid.z, l->block.x, l->block.y, l->block.z, l->shared};
  int status = 0;
  talk("into a graph", work->file, work->line, a, 7, name, strlen(name), 0, 0, 0, 0, &status);
  return status;
}

int grade_capture_begin(void* stream, int mode, const char* file, int line) {
  ONE_AT_A_TIME;
  const char* name = "cudaStreamBeginCapture";
  if (is_legacy(stream)) return refuse(name, file, line, NOT_IN_CAPTURE, 0);
  Capturing* known = capturing_at(stream);
  if (known) return refuse(name, file, line, ILLEGAL_STATE, known->in);
  uint64_t a[1] = {(uint64_t)stream}, flags[1] = {0};
  int status = grade_call(name, file, line, a, 1, 0, 0, flags, 0, 0);
  if (status) return status;
  Capture* made = calloc(1, sizeof *made);
  *made = (Capture){.number = ++capture_number, .origin = stream, .mode = mode, .line = line};
  made->blocking = !(flags[0] & 1);
  grade_graph_create(&made->graph);
  grow(&captures.at, captures.count, sizeof *captures.at);
  captures.at[captures.count++] = made;
  join(stream, made);
  return 0;
}

// Whether all of `nodes` are before or among `ends`.
static int joined(const Nodes* nodes, const Nodes* ends) {
  Nodes reached = {0};
  append_new(&reached, ends);
  for (size_t k = 0; k < reached.count; ++k) append_new(&reached, &reached.at[k]->before);
  int all = 1;
  for (size_t k = 0; k < nodes->count; ++k) all &= has(&reached, nodes->at[k]);
  clear(&reached);
  return all;
}

int grade_capture_end(void* stream, GradeGraph** graph, const char* file, int line) {
  ONE_AT_A_TIME;
  const char* name = "cudaStreamEndCapture";
  *graph = 0;
  Capturing* at = capturing_at(stream);
  if (!at) return refuse(name, file, line, ILLEGAL_STATE, 0);
  Capture* in = at->in;
  if (in->origin != stream) return refuse(name, file, line, UNMATCHED, in);
  int status = in->broken ? INVALIDATED : 0;
  for (size_t k = 0; k < capturing.count && !status; ++k)
    if (capturing.at[k]->in == in && !joined(&capturing.at[k]->last, &at->last)) status = UNJOINED;
  for (size_t k = 0; k < capturing.count; ++k)
    if (capturing.at[k]->in == in) {
      clear(&capturing.at[k]->last), free(capturing.at[k]);
      capturing.at[k--] = capturing.at[--capturing.count];
    }
  for (size_t k = 0; k < captures.count; ++k)
    if (captures.at[k] == in) captures.at[k--] = captures.at[--captures.count];
  if (status) {
    status = refuse(name, file, line, status, in);
    grade_graph_destroy(in->graph);
  } else {
    *graph = in->graph;
    status = grade_call(name, file, line, 0, 0, 0, 0, 0, 0, 0);
  }
  free(in);
  return status;
}

int grade_capture_status(const char* name, void* stream, int* status, uint64_t* number,
                         GradeGraph** graph, GradeNode*** last, size_t* count, const char* file,
                         int line) {
  ONE_AT_A_TIME;
  if (is_legacy(stream) && blocking_capture()) return capture_forbids(name, stream, file, line);
  Capturing* at = capturing_at(stream);
  *status = at ? 1 + at->in->broken : 0;
  if (at && number) *number = at->in->number;
  if (at && graph) *graph = at->in->graph;
  if (at && last) *last = at->last.at;
  if (count) *count = at ? at->last.count : 0;
  return 0;
}

int grade_capture_mode(int* mode) {
  ONE_AT_A_TIME;
  int before = thread_mode;
  thread_mode = *mode, *mode = before;
  return 0;
}

void grade_no_memory_nodes(void* stream, const char* name, const char* file, int line) {
  if (!capturing_at(stream)) return;
  char what[128];
  snprintf(what, sizeof what, "a CUDA graph's own memory: %s while a stream is captured", name);
  fflush(stdout);
  tell("missing", file, line, 0, 0, what, strlen(what));
  _exit(70);
}

int grade_event_record(void* event, void* stream, const char* file, int line) {
  ONE_AT_A_TIME;
  GradeWork w = {GRADE_RECORD, "cudaEventRecord", file, line};
  w.event = event;
  unmark(event);
  Capturing* at = capturing_at(stream);
  if (!at) return perform(&w, stream, 1);
  if (at->in->broken) return refuse(w.name, file, line, INVALIDATED, at->in);
  Marked* made = calloc(1, sizeof *made);
  made->event = event, made->number = at->in->number;
  append_new(&made->last, &at->last);
  grow(&marked.at, marked.count, sizeof *marked.at);
  marked.at[marked.count++] = made;
  return 0;
}

int grade_event_wait(void* stream, void* event, const char* file, int line) {
  ONE_AT_A_TIME;
  GradeWork w = {GRADE_WAIT, "cudaStreamWaitEvent", file, line};
  w.event = event;
  Capturing* at = capturing_at(stream);
  Marked* mark = mark_of(event);
  if (!mark && !at) return perform(&w, stream, 1);
  if (!mark) return refuse(w.name, file, line, ISOLATED, at->in);
  Capture* in = capture_of(mark->number);
  if (!in) return refuse(w.name, file, line, CAPTURED_EVENT, at ? at->in : 0);
  if (in->broken) return refuse(w.name, file, line, INVALIDATED, in);
  if (is_legacy(stream)) return refuse(w.name, file, line, IMPLICIT, in);
  if (at && at->in != in) return in->broken = 1, refuse(w.name, file, line, MERGED, at->in);
  if (!at) at = join(stream, in);
  append_new(&at->last, &mark->last);
  return 0;
}
