// Copies and fills of the host's side, and whatever else a stream may be asked to do.

enum { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE };

// `rows` of `width` bytes. Rows on the host travel packed; the pitches are those of the caller.
static int copy_rows(const GradeWork* w, const GradeCopy* c, void* stream, int async) {
  ONE_AT_A_TIME;  // what is closed here must not be opened before the copy is told
  char* to = grade_host_pointer(c->to);
  const char* from = grade_host_pointer(c->from);
  size_t width = c->width, rows = c->rows, bytes = width * rows;
  int to_device = is_device((uint64_t)to), from_device = is_device((uint64_t)from);
  int flat = rows <= 1, kind = c->kind;
  int later = async && from_device && grade_is_shared(to);
  if (later) grade_close(to), to_device = 1;
  int both = to && from;  // beside a null pointer nothing is read or written: CUDA refuses it
  const char* payload = 0;
  char* packed = 0;
  if (both && !from_device && !(kind == DEVICE_TO_HOST || kind == DEVICE_TO_DEVICE)) {
    if (!flat) {
      packed = malloc(bytes);
      for (size_t k = 0; k < rows; ++k) memcpy(packed + k * width, from + k * c->from_pitch, width);
    }
    if (to_device || !flat) payload = flat ? from : packed;
    else if (bytes) memmove(to, from, bytes);
  }
  int back = both && !to_device && from_device && kind != HOST_TO_DEVICE &&
             kind != DEVICE_TO_DEVICE && kind != HOST_TO_HOST;
  if (back && !flat) {
    // A failed copy brings nothing: what lies there stays.
    packed = malloc(bytes + 1);
    for (size_t k = 0; k < rows; ++k) memcpy(packed + k * width, to + k * c->to_pitch, width);
  }
  uint64_t a[11] = {(uint64_t)to, c->to_pitch, (uint64_t)from, c->from_pitch, width, rows, kind,
                    (uint64_t)stream, async, to_device, from_device};
  int status = grade_call(w->name, w->file, w->line, a, 11, payload, payload ? bytes : 0, 0,
                          back ? (flat ? to : packed) : 0, back ? bytes : 0);
  if (back && !flat)
    for (size_t k = 0; k < rows; ++k) memcpy(to + k * c->to_pitch, packed + k * width, width);
  if (both && !to_device && !from_device && !flat)
    for (size_t k = 0; k < rows; ++k)
      memcpy(to + k * c->to_pitch, from + k * c->from_pitch, width);
  free(packed);
  return status;
}

static int copy(const GradeWork* w, void* stream, int async) {
  GradeCopy c = w->copy;
  int status = 0;
  for (size_t z = 0; z < w->copy.depth && !status; ++z) {
    status = copy_rows(w, &c, stream, async);
    c.to = (char*)c.to + c.to_slice, c.from = (const char*)c.from + c.from_slice;
  }
  return status;
}

static int fill(const GradeWork* w, void* stream, int async) {
  ONE_AT_A_TIME;
  const GradeFill* f = &w->fill;
  uint64_t to = (uint64_t)grade_close(f->to);
  uint64_t a[8] = {to, f->pitch, f->value, f->width, f->rows, (uint64_t)stream, async, f->element};
  return grade_call(w->name, w->file, w->line, a, 8, 0, 0, 0, 0, 0);
}

static int symbol(const GradeWork* w, void* stream, int async) {
  const GradeSymbol* s = &w->symbol;
  const char* variable = grade_variable(s->shadow);
  int there = is_device((uint64_t)s->data);
  size_t length = strlen(variable) + 1, carried = s->out || there || !s->data ? 0 : s->bytes;
  char* packed = malloc(length + carried);
  memcpy(packed, variable, length);
  if (carried) memcpy(packed + length, s->data, carried);
  uint64_t a[8] = {s->bytes, s->offset, s->kind, there ? (uint64_t)s->data : 0, (uint64_t)stream,
                   async, s->out, !s->data};
  int back = s->out && !there && s->data;
  int status = grade_call(w->name, w->file, w->line, a, 8, packed, length + carried, 0,
                          back ? s->data : 0, back ? s->bytes : 0);
  free(packed);
  return status;
}

static int host_function(const GradeWork* w, void* stream) {
  uint64_t a[1] = {(uint64_t)stream};
  int status = grade_call(w->name, w->file, w->line, a, 1, 0, 0, 0, 0, 0);
  if (!status) w->host.function(w->host.data);
  return status;
}

static int capture(const GradeWork* work, void* stream, int* status);

// Do what `work` says in `stream` now.
static int perform(const GradeWork* w, void* stream, int async) {
  const GradeLaunch* l = &w->launch;
  uint64_t a[2] = {(uint64_t)w->event, (uint64_t)stream};
  switch (w->does) {
    case GRADE_COPY: return copy(w, stream, async);
    case GRADE_FILL: return fill(w, stream, async);
    case GRADE_SYMBOL: return symbol(w, stream, async);
    case GRADE_HOST: return host_function(w, stream);
    case GRADE_LAUNCH:
      return grade_launch(w->name, l->kernel, l->grid, l->block, l->arguments, l->shared, stream,
                          w->file, w->line);
    case GRADE_RECORD: return grade_call("cudaEventRecord", w->file, w->line, a, 2, 0, 0, 0, 0, 0);
    case GRADE_WAIT:
      a[0] = (uint64_t)stream, a[1] = (uint64_t)w->event;
      return grade_call("cudaStreamWaitEvent", w->file, w->line, a, 2, 0, 0, 0, 0, 0);
  }
  return 0;
}

// Do what `work` says, or keep it where the stream is being captured.
int grade_work(const GradeWork* work, void* stream, int async) {
  int status = 0;
  if (async && capture(work, stream, &status)) return status;
  return perform(work, stream, async);
}
