// What the headers call of the runtime (runtime.c).
#pragma once
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
int grade_call(const char* name, const char* file, int line, const uint64_t* numbers, int count,
               const void* payload, size_t bytes, uint64_t* results, void* back, size_t room);
const char* grade_text(const char* name, int code);
const char* grade_kernel(const void* stub);
const char* grade_variable(const void* shadow);
void* grade_share(uint64_t address, size_t bytes, int managed);
void grade_unshare(uint64_t address);
int grade_is_shared(const void* address);
void* grade_close(const void* address);
int grade_register(void* base, size_t bytes, uint64_t device);
void grade_unregister(const void* base);
void* grade_device_pointer(const void* address);
void* grade_host_pointer(const void* address);
void grade_missing(const char* what, const void* place);

// ---- what a stream does: at once, or captured into a graph for later ---------------------------

// `depth` times `rows` rows of `width` bytes; a pitch is the distance of two rows, a slice that of
// two blocks of rows.
typedef struct {
  void* to;
  size_t to_pitch, to_slice;
  const void* from;
  size_t from_pitch, from_slice, width, rows, depth;
  int kind;
} GradeCopy;
// `rows` rows of `width` bytes filled with a value of 1, 2 or 4 bytes.
typedef struct {
  void* to;
  size_t pitch, width, rows;
  unsigned value, element;
} GradeFill;
typedef struct {
  const void* shadow;
  void* data;
  size_t bytes, offset;
  int kind, out;
} GradeSymbol;
typedef struct {
  unsigned x, y, z;
} GradeSize;
typedef struct {
  const void* kernel;
  GradeSize grid, block;
  size_t shared;
  void** arguments;
} GradeLaunch;
typedef struct {
  void (*function)(void*);
  void* data;
} GradeHost;
typedef struct GradeGraph GradeGraph;
typedef struct GradeNode GradeNode;
enum { GRADE_NOTHING, GRADE_COPY, GRADE_FILL, GRADE_SYMBOL, GRADE_LAUNCH, GRADE_HOST, GRADE_GRAPH,
       GRADE_RECORD, GRADE_WAIT };
typedef struct {
  int does;
  const char *name, *file;
  int line;
  union {
    GradeCopy copy;
    GradeFill fill;
    GradeSymbol symbol;
    GradeLaunch launch;
    GradeHost host;
    GradeGraph* graph;
    void* event;
  };
} GradeWork;
int grade_work(const GradeWork* work, void* stream, int async);
int grade_check_launch(const GradeWork* work);

// ---- capture and graphs: each returns CUDA's error code ----------------------------------------
int grade_capture_begin(void* stream, int mode, const char* file, int line);
int grade_capture_end(void* stream, GradeGraph** graph, const char* file, int line);
int grade_capture_status(const char* name, void* stream, int* status, uint64_t* number,
                         GradeGraph** graph, GradeNode*** last, size_t* count, const char* file,
                         int line);
int grade_capture_mode(int* mode);
void grade_no_memory_nodes(void* stream, const char* name, const char* file, int line);
int grade_event_record(void* event, void* stream, const char* file, int line);
int grade_event_wait(void* stream, void* event, const char* file, int line);

int grade_graph_create(GradeGraph** graph);
int grade_graph_clone(GradeGraph** copy, GradeGraph* graph);
int grade_graph_destroy(GradeGraph* graph);
int grade_graph_add(GradeNode** node, GradeGraph* graph, GradeNode* const* before, size_t count,
                    const GradeWork* work);
int grade_graph_join(GradeGraph* graph, GradeNode* const* from, GradeNode* const* to, size_t count,
                     int remove);
int grade_graph_nodes(GradeGraph* graph, GradeNode** nodes, size_t* count, int roots);
int grade_graph_edges(GradeGraph* graph, GradeNode** from, GradeNode** to, size_t* count);
int grade_graph_start(GradeGraph** exec, GradeGraph* graph);
int grade_graph_launch(GradeGraph* exec, void* stream, const char* file, int line);
int grade_graph_update(GradeGraph* exec, GradeGraph* graph, GradeNode** culprit, int* result);
int grade_node_destroy(GradeNode* node);
int grade_node_type(GradeNode* node, int* type);
int grade_node_near(GradeNode* node, GradeNode** nodes, size_t* count, int after);
// A node of `exec`, or with none of the graph itself; `set` takes other work of the same sort.
int grade_node_set(GradeGraph* exec, GradeNode* node, const GradeWork* work);
int grade_node_get(GradeNode* node, int does, GradeWork* work);
int grade_node_enable(GradeGraph* exec, GradeNode* node, int enabled);
int grade_node_enabled(GradeGraph* exec, GradeNode* node, unsigned* enabled);

// ---- textures: what an object's handle leads to (the engine's textures.c has the same) ---------
typedef struct {
  uint64_t texels, pitch, slice;
  uint32_t size[3], channels, bits, kind, linear, normalised, as_float, mode[3];
  float border[4];
} GradeTexture;
#ifdef __cplusplus
}
#endif
