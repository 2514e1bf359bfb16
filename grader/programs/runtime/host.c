// The host's side of the CUDA runtime: every call becomes a message to the process that owns the
// virtual GPU (server.py), which answers with a status, numbers and bytes.
//
// Memory that host and device share (managed, pinned) is mapped at the device's own address. It is
// closed while a kernel or a copy that has not been waited for may write it, so that a read before
// cudaDeviceSynchronize() is noticed where it happens (`on_fault`).
#include "host.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { REQUEST = 100, REPLY = 101, MOST_NUMBERS = 16, MOST_REGIONS = 1024, MOST_KERNELS = 4096 };
#define PAGE 4096ull

typedef struct {
  uint32_t name_bytes, file_bytes, line, numbers;
  uint64_t payload_bytes;
} Request;
typedef struct {
  int32_t status;
  uint32_t numbers, text_bytes, flags;
  uint64_t payload_bytes;
} Reply;
enum { OPEN_SHARED = 1 };

typedef struct {
  char* base;
  size_t bytes;
  int managed, closed;
  const char* variable;  // of a `__managed__` variable: its name
  uint64_t device;       // where the device has it, if elsewhere: such memory has no pages of its own
} Region;
typedef struct {
  const void* stub;
  const char* name;
  int known, count;
  uint32_t sizes[256];
} Kernel;

static Region regions[MOST_REGIONS];
static int region_count;
static Kernel kernels[MOST_KERNELS];
static int kernel_count;
static struct { const void* shadow; const char* name; } variables[MOST_KERNELS];
static int variable_count;

static void lost(void) { _exit(70); }

// One thread speaks at a time, and looks after what is kept here; a call may make others.
static pthread_mutex_t speaking = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static void leave(int* entered) { pthread_mutex_unlock(&speaking); }
#define ONE_AT_A_TIME \
  int entered __attribute__((cleanup(leave), unused)) = pthread_mutex_lock(&speaking)

static int is_device(uint64_t a) {
  return (a >= 16ull << 36 && a < 512ull << 36) || (a >= 8192ull << 36 && a < 1ull << 52);
}

static void put(const void* data, size_t bytes) {
  const char* at = data;
  while (bytes) {
    ssize_t n = write(REQUEST, at, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) lost();
    at += n, bytes -= n;
  }
}

static void get(void* data, size_t bytes) {
  char* at = data;
  while (bytes) {
    ssize_t n = read(REPLY, at, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) lost();
    at += n, bytes -= n;
  }
}

static void skip(uint64_t bytes) {
  char junk[4096];
  while (bytes) {
    size_t n = bytes < sizeof junk ? bytes : sizeof junk;
    get(junk, n), bytes -= n;
  }
}

// What a call reads or fills is touched first: a bad address then is a fault at that call, not an
// error of the pipe in the middle of a message.
static Region* shared_at(uint64_t address);
static void open_region(Region* r);
static void prepare(const void* data, size_t bytes, int fill) {
  if (!bytes) return;
  Region* r = shared_at((uint64_t)data);
  if (r) open_region(r);
  volatile char* at = (volatile char*)data;
  for (size_t k = 0; k < bytes; k += PAGE) {
    char c = at[k];
    if (fill) at[k] = c;
  }
  char c = at[bytes - 1];
  if (fill) at[bytes - 1] = c;
}

static void tell(const char* name, const char* file, int line, const uint64_t* a, int n,
                 const void* payload, size_t bytes) {
  ONE_AT_A_TIME;
  Request q = {strlen(name), strlen(file), line, n, bytes};
  put(&q, sizeof q), put(name, q.name_bytes), put(file, q.file_bytes), put(a, 8 * n);
  if (bytes) put(payload, bytes);
}

// One call; `say` writes what the device printed. Returns the reply's flags.
static uint32_t talk(const char* name, const char* file, int line, const uint64_t* a, int n,
                     const void* payload, size_t bytes, uint64_t* r, void* back, size_t room,
                     int say, int* status) {
  ONE_AT_A_TIME;
  tell(name, file, line, a, n, payload, bytes);
  Reply p;
  get(&p, sizeof p);
  for (uint32_t k = 0; k < p.numbers; ++k) {
    uint64_t v;
    get(&v, 8);
    if (r) r[k] = v;
  }
  if (p.text_bytes && say) {
    char* text = malloc(p.text_bytes);
    get(text, p.text_bytes);
    fwrite(text, 1, p.text_bytes, stdout);
    free(text);
  } else {
    skip(p.text_bytes);
  }
  size_t taken = p.payload_bytes < room ? p.payload_bytes : room;
  if (taken) get(back, taken);
  skip(p.payload_bytes - taken);
  if (status) *status = p.status;
  return p.flags;
}

// ---- memory that host and device share ---------------------------------------------------------

static size_t rounded(size_t bytes) { return (bytes + PAGE - 1) & ~(PAGE - 1); }

static int own_pages(const Region* r) { return !r->variable && !r->device; }

// The region whose own pages an address lies in.
static Region* region_of(uint64_t address) {
  for (int k = 0; k < region_count; ++k)
    if (regions[k].base && own_pages(&regions[k]) &&
        address - (uint64_t)regions[k].base < rounded(regions[k].bytes))
      return &regions[k];
  return 0;
}

// The region of any kind that an address, the host's or the device's, lies in.
static Region* shared_at(uint64_t address) {
  for (int k = 0; k < region_count; ++k) {
    Region* r = &regions[k];
    if (r->base && !own_pages(r) && (address - (uint64_t)r->base < r->bytes ||
                                     (r->device && address - r->device < r->bytes)))
      return r;
  }
  return region_of(address);
}

static uint64_t device_address(Region* r, uint64_t address) {
  if (own_pages(r) || address - (uint64_t)r->base >= r->bytes) return address;
  if (!r->device) {
    uint64_t found[2] = {0};  // address and size
    talk("variable address", "", 0, 0, 0, r->variable, strlen(r->variable), found, 0, 0, 0, 0);
    r->device = found[0];
  }
  return address - (uint64_t)r->base + r->device;
}

static void open_region(Region* r) {
  if (!r->closed) return;
  r->closed = 0;
  if (own_pages(r)) mprotect(r->base, rounded(r->bytes), PROT_READ | PROT_WRITE);
  if (r->variable) {
    talk("variable read", "", 0, 0, 0, r->variable, strlen(r->variable), 0, r->base, r->bytes, 0, 0);
  } else {
    uint64_t a[2] = {device_address(r, (uint64_t)r->base), r->bytes};
    talk("shared read", "", 0, a, 2, 0, 0, 0, r->base, r->bytes, 0, 0);
  }
}

static void close_region(Region* r) {
  if (r->closed) return;
  if (r->variable) {
    size_t length = strlen(r->variable) + 1;
    char* packed = malloc(length + r->bytes);
    memcpy(packed, r->variable, length), memcpy(packed + length, r->base, r->bytes);
    talk("variable write", "", 0, 0, 0, packed, length + r->bytes, 0, 0, 0, 0, 0);
    free(packed);
  } else {
    uint64_t a[1] = {device_address(r, (uint64_t)r->base)};
    talk("shared write", "", 0, a, 1, r->base, r->bytes, 0, 0, 0, 0, 0);
  }
  r->closed = 1;
  if (own_pages(r)) mprotect(r->base, rounded(r->bytes), PROT_NONE);
}

static void follow(uint32_t flags) {
  if (flags & OPEN_SHARED)
    for (int k = 0; k < region_count; ++k)
      if (regions[k].base) open_region(&regions[k]);
}

static int free_region(void) {
  int k = 0;
  while (k < region_count && regions[k].base) ++k;
  if (k == region_count && k < MOST_REGIONS) ++region_count;
  return k;
}

void* grade_share(uint64_t address, size_t bytes, int managed) {
  ONE_AT_A_TIME;
  int k = free_region();
  if (k == MOST_REGIONS) return 0;
  void* at = mmap((void*)address, rounded(bytes), PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (at != (void*)address) return 0;
  regions[k] = (Region){.base = at, .bytes = bytes, .managed = managed};
  return at;
}

// Memory of the program's own that the device may use, at an address of the device's.
int grade_register(void* base, size_t bytes, uint64_t device) {
  ONE_AT_A_TIME;
  int k = free_region();
  if (k == MOST_REGIONS) return 0;
  regions[k] = (Region){.base = base, .bytes = bytes, .device = device};
  return 1;
}

void grade_unregister(const void* base) {
  ONE_AT_A_TIME;
  Region* r = shared_at((uint64_t)base);
  if (!r || own_pages(r) || r->variable) return;
  open_region(r);
  r->base = 0;
}

// Where the device has what the host has at `address`: elsewhere for registered memory and
// `__managed__` variables.
void* grade_device_pointer(const void* address) {
  ONE_AT_A_TIME;
  Region* r = shared_at((uint64_t)address);
  return (void*)(r ? device_address(r, (uint64_t)address) : (uint64_t)address);
}

// The other way round; an address that is the device's alone stays.
void* grade_host_pointer(const void* address) {
  Region* r = shared_at((uint64_t)address);
  uint64_t at = (uint64_t)address;
  if (r && r->device && at - r->device < r->bytes) at = (uint64_t)r->base + (at - r->device);
  return (void*)at;
}

void grade_unshare(uint64_t address) {
  ONE_AT_A_TIME;
  Region* r = region_of(address);
  if (!r || (uint64_t)r->base != address) return;
  // The addresses stay taken and closed: a later access is a fault that can be named.
  mprotect(r->base, rounded(r->bytes), PROT_NONE);
  madvise(r->base, rounded(r->bytes), MADV_DONTNEED);
  r->base = 0;
}

// A copy into shared memory that has not been waited for: what it brings shows when it is opened.
int grade_is_shared(const void* address) { return region_of((uint64_t)address) != 0; }

void* grade_close(const void* address) {
  ONE_AT_A_TIME;
  Region* r = shared_at((uint64_t)address);
  if (r) close_region(r);
  return grade_device_pointer(address);
}

// ---- calls -------------------------------------------------------------------------------------

// What CUDA answers a call that must not be made while a stream is captured (capture.c), or 0.
static int call_in_capture(const char* name, const char* file, int line, const uint64_t* a);
static int capture_forbids(const char* api, void* stream, const char* file, int line);

int grade_call(const char* name, const char* file, int line, const uint64_t* a, int n,
               const void* payload, size_t bytes, uint64_t* r, void* back, size_t room) {
  ONE_AT_A_TIME;
  int status = call_in_capture(name, file, line, a);
  if (status) return status;
  prepare(payload, bytes, 0), prepare(back, room, 1);
  follow(talk(name, file, line, a, n, payload, bytes, r, back, room, 1, &status));
  return status;
}

const char* grade_text(const char* name, int code) {
  static struct { const char* name; int code; const char* text; } known[64];
  static int count;
  for (int k = 0; k < count; ++k)
    if (known[k].code == code && !strcmp(known[k].name, name)) return known[k].text;
  char* text = calloc(1, 256);
  uint64_t a[1] = {(uint64_t)code};
  talk(name, "", 0, a, 1, 0, 0, 0, text, 255, 0, 0);
  if (count < 64) {
    known[count].name = name, known[count].code = code, known[count].text = text, ++count;
  }
  return text;
}

const char* grade_kernel(const void* stub) {
  for (int k = 0; k < kernel_count; ++k)
    if (kernels[k].stub == stub) return kernels[k].name;
  return "";
}

const char* grade_variable(const void* shadow) {
  for (int k = 0; k < variable_count; ++k)
    if (variables[k].shadow == shadow) return variables[k].name;
  return "";
}

// ---- launches: what clang makes of <<<>>> ------------------------------------------------------

typedef GradeSize Size;
static __thread struct { Size grid, block; size_t shared; void* stream; const char* file; int line; }
    pushed;

unsigned __cudaPushCallConfiguration(Size grid, Size block, size_t shared, void* stream,
                                     const char* file, int line) {
  pushed.grid = grid, pushed.block = block, pushed.shared = shared, pushed.stream = stream;
  pushed.file = file, pushed.line = line;
  return 0;
}

unsigned __cudaPopCallConfiguration(Size* grid, Size* block, size_t* shared, void** stream) {
  *grid = pushed.grid, *block = pushed.block, *shared = pushed.shared, *stream = pushed.stream;
  return 0;
}

static Kernel* known_kernel(const void* stub, const char* file, int line) {
  Kernel* kernel = 0;
  for (int k = 0; k < kernel_count; ++k)
    if (kernels[k].stub == stub) kernel = &kernels[k];
  if (kernel && !kernel->known) {
    uint64_t r[256];
    talk("kernel", file, line, 0, 0, kernel->name, strlen(kernel->name), r, 0, 0, 0, &kernel->count);
    for (int k = 0; k < kernel->count; ++k) kernel->sizes[k] = r[k];
    kernel->known = 1;
  }
  return kernel;
}

int grade_launch(const char* api, const void* stub, Size grid, Size block, void** args,
                 size_t shared, void* stream, const char* file, int line) {
  ONE_AT_A_TIME;
  int status = capture_forbids(api, stream, file, line);
  if (status) return status;
  Kernel* kernel = known_kernel(stub, file, line);
  const char* name = kernel ? kernel->name : "";
  uint64_t a[10] = {grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, (uint64_t)stream};
  size_t bytes = strlen(name) + 1;
  for (int k = 0; kernel && k < kernel->count; ++k) bytes += kernel->sizes[k];
  char* packed = malloc(bytes);
  char* at = stpcpy(packed, name) + 1;
  for (int k = 0; kernel && k < kernel->count; ++k) {
    memcpy(at, args[k], kernel->sizes[k]);
    if (kernel->sizes[k] == 8) {
      uint64_t value;
      memcpy(&value, args[k], 8);
      value = (uint64_t)grade_close((void*)value);
      memcpy(at, &value, 8);
    }
    at += kernel->sizes[k];
  }
  for (int k = 0; k < region_count; ++k)
    if (regions[k].base && regions[k].managed) close_region(&regions[k]);
  uint32_t flags =
      talk(api, file, line, a, 8, packed, bytes, 0, 0, 0, 1, &status);
  free(packed);
  follow(flags);
  return status;
}

int cudaLaunchKernel(const void* stub, Size grid, Size block, void** args, size_t shared,
                     void* stream) {
  GradeWork w = {GRADE_LAUNCH, "<<<>>>", pushed.file, pushed.line};
  w.launch = (GradeLaunch){stub, grid, block, shared, args};
  return grade_work(&w, stream, 1);
}

// What the compiler wraps around the device code of one file: ours begins with the file's number.
typedef struct { int magic, version; const char* data; void* unused; } Wrapper;

// Two files may have kernels or variables of one name: after the first, the number stands before.
static const char* named(void** handle, const char* name) {
  int number = atoi(((const Wrapper*)handle)->data);
  if (!number) return name;
  char* text = malloc(strlen(name) + 16);
  sprintf(text, "%d:%s", number, name);
  return text;
}

void** __cudaRegisterFatBinary(void* wrapper) { return wrapper; }
void __cudaRegisterFatBinaryEnd(void** handle) {}
void __cudaUnregisterFatBinary(void** handle) {}
int __cudaRegisterFunction(void** handle, const void* stub, char* name, const char* again, int limit,
                           void* a, void* b, void* c, void* d, int* e) {
  if (kernel_count < MOST_KERNELS) kernels[kernel_count++] = (Kernel){stub, named(handle, name)};
  return 0;
}
// `__managed__` variables lie in this section of the program; there may be none.
extern char __start_grade_managed[] __attribute__((weak));
extern char __stop_grade_managed[] __attribute__((weak));

void __cudaRegisterVar(void** handle, void* shadow, char* name, const char* again, int ext,
                       size_t bytes, int constant, int global) {
  char* at = shadow;
  const char* known = named(handle, name);
  if (at >= __start_grade_managed && at < __stop_grade_managed && region_count < MOST_REGIONS) {
    Region* r = &regions[region_count++];
    *r = (Region){.base = shadow, .bytes = bytes, .managed = 1, .closed = 1, .variable = known};
    open_region(r);  // the device has the value it begins with
  }
  if (variable_count < MOST_KERNELS) {
    variables[variable_count].shadow = shadow, variables[variable_count].name = known;
    ++variable_count;
  }
}
// A call that is not served was reached: the run ends, and whose line it was is told.
extern char __ehdr_start[];
void grade_missing(const char* what, const void* place) {
  uint64_t a[1] = {(uint64_t)place - 1 - (uint64_t)__ehdr_start};
  fflush(stdout);
  tell("missing", "", 0, a, 1, what, strlen(what));
  _exit(70);
}
