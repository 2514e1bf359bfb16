// What ends a host program: a fault, abort(), a failed assertion, and where in the program it was.

static uint64_t program_counter(const ucontext_t* context) {
#if defined(__x86_64__)
  return context->uc_mcontext.gregs[REG_RIP];
#else
  return context->uc_mcontext.pc;
#endif
}

static uint64_t stack_pointer(const ucontext_t* context) {
#if defined(__x86_64__)
  return context->uc_mcontext.gregs[REG_RSP];
#else
  return context->uc_mcontext.sp;
#endif
}

// libunwind's (Itanium C++ ABI: Exception Handling, 1.5): calls `step` for each frame, the innermost
// first, until it returns something else than 0.
int _Unwind_Backtrace(int (*step)(void* frame, void* state), void* state);
uint64_t _Unwind_GetIP(void* frame);
extern char etext[];

// The program's own callers of the instruction `from`, or where that is `seen` of the function that
// asks: what lies in a library is passed over.
typedef struct { uint64_t from, *at; volatile int* n; int most, seen, frames; } Walk;
static int walk_on(void* frame, void* state) {
  Walk* w = state;
  uint64_t address = _Unwind_GetIP(frame);
  if (w->seen && address - (uint64_t)__ehdr_start < (uint64_t)(etext - __ehdr_start))
    w->at[(*w->n)++] = address - 1;
  w->seen |= address == w->from;
  return ++w->frames == 100 || *w->n == w->most;
}

#if defined(__x86_64__)
// The first address near the top of the stack that a call of the program's own returns to.
static uint64_t called_from(volatile uint64_t* top) {
  for (int k = 0; k < 64; ++k) {
    const unsigned char* code = (const unsigned char*)top[k];
    if (code - (unsigned char*)__ehdr_start < 8 || code >= (unsigned char*)etext) continue;
    if (!k || code[-5] == 0xe8 || (code[-6] == 0xff && code[-5] == 0x15)) return top[k] - 1;
  }
  return top[0] - 1;
}
#endif

// Where the program stood: the instruction, and its callers, which frame pointers lead to where
// nothing else is known of them. A C library's function keeps no frame; its return address lies near
// the top of the stack. Where the stack is full or overwritten, looking there is a fault of its own,
// and what is known is enough.
static jmp_buf looked;
static volatile int looking, halted;
static int places(const ucontext_t* context, uint64_t* at, int most) {
  static volatile int n, by_frames;
  n = by_frames = 0;
  at[n++] = program_counter(context);
  if (setjmp(looked) && by_frames) return looking = 0, n;
  if (!looking) {
    looking = 1;
    Walk walk = {.from = at[0], .at = at, .n = &n, .most = most};
    _Unwind_Backtrace(walk_on, &walk);
#if defined(__x86_64__)
    halted = *(volatile unsigned char*)at[0] == 0xf4;  // HLT
#endif
  }
  if (n > 1) return looking = 0, n;
  by_frames = 1;
  uint64_t top = stack_pointer(context);
#if defined(__x86_64__)
  uint64_t frame = context->uc_mcontext.gregs[REG_RBP];
  uint64_t above = called_from((volatile uint64_t*)top);
#else
  uint64_t frame = context->uc_mcontext.regs[29], above = context->uc_mcontext.regs[30] - 4;
#endif
  at[n++] = above;
  while (n < most && frame >= top && frame - top < 8ull << 20 && !(frame & 7)) {
    volatile uint64_t* f = (volatile uint64_t*)frame;
    uint64_t next = f[0], caller = f[1] - 1;
    at[n++] = caller;
    if (next <= frame) break;
    frame = next;
  }
  return looking = 0, n;
}

// Whether an address that cannot be used is one of the stack, which has grown to its limit.
static uint64_t stack_begin;
static int is_full_stack(const ucontext_t* context, uint64_t address) {
  uint64_t below = 1 << 16;  // what one instruction may reach beneath the stack
  return address < stack_begin && address + below >= stack_pointer(context) &&
         stack_begin - address < 1ull << 36;
}

// Whether an instruction reads and writes memory in one step that no other processor can divide.
static int is_atomic(const unsigned char* code) {
#if defined(__x86_64__)
  for (int k = 0; k < 4; ++k) {
    if (code[k] == 0xf0) return 1;                                     // LOCK
    if ((code[k] & 0xfe) == 0x86) return 1;                            // XCHG locks by itself
    if (code[k] != 0x66 && code[k] != 0xf2 && code[k] != 0xf3 && (code[k] & 0xf0) != 0x40) return 0;
  }
  return 0;
#else
  uint32_t word;
  memcpy(&word, code, 4);
  return (word & 0x3f000000) == 0x08000000 ||  // exclusive loads and stores, compare and swap
         (word & 0x3b200c00) == 0x38200000;    // LDADD and its kin, SWP
#endif
}

static void on_fault(int number, siginfo_t* info, void* context) {
  static __thread volatile int inside;
  uint64_t a[MOST_NUMBERS] = {0}, address = (uint64_t)info->si_addr;
  if (looking) longjmp(looked, 1);
  if (!inside) {
    ONE_AT_A_TIME;
    inside = 1;
    int n = places(context, a + 3, MOST_NUMBERS - 3);
    for (int k = 0; k < n; ++k) a[3 + k] -= (uint64_t)__ehdr_start;
    Region* r = number == SIGSEGV ? region_of(address) : 0;
    if (halted) number = SIGABRT;  // glibc's own abort() after it could send no signal
    a[0] = number, a[1] = address;
    if (r && !r->closed) {  // another thread has opened it meanwhile
      inside = 0;
      return;
    }
    if (r) {
      a[2] = is_atomic((const unsigned char*)(a[3] + (uint64_t)__ehdr_start));
      talk("touched", "", 0, a, 3 + n, 0, 0, 0, 0, 0, 0, 0);
      open_region(r);
      inside = 0;
      return;
    }
#if defined(__x86_64__)
    // A device address is no address of this processor: it does not say which one it was.
    if (number == SIGSEGV && !address)
      for (int k = 0; k < NGREG; ++k) {
        uint64_t v = ((ucontext_t*)context)->uc_mcontext.gregs[k];
        if (k != REG_RIP && k != REG_RSP && k != REG_RBP && is_device(v)) a[1] = v;
      }
#endif
    a[2] = number == SIGSEGV && is_full_stack(context, a[1]);
    tell("died", "", 0, a, 3 + n, 0, 0);
  }
  fflush(stdout);
  signal(number, SIG_DFL);
  _exit(128 + number);
}

// The sandbox lets no process send signals but its first; abort() would end in a wrong one.
void abort(void) {
  fflush(stdout);
  uint64_t a[MOST_NUMBERS] = {SIGABRT};
  volatile int n = 0;
  Walk walk = {.seen = 1, .at = a + 3, .n = &n, .most = MOST_NUMBERS - 3};
  _Unwind_Backtrace(walk_on, &walk);
  for (int k = 0; k < n; ++k) a[3 + k] -= (uint64_t)__ehdr_start;
  tell("aborted", "", 0, a, 3 + n, 0, 0);
  _exit(128 + SIGABRT);
}

// glibc's would end in its own abort(), which the sandbox stops as above.
void __assert_fail(const char* text, const char* file, unsigned line, const char* function) {
  fflush(stdout);
  fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, text);
  tell("asserted", file, (int)line, 0, 0, text, strlen(text));
  _exit(128 + SIGABRT);
}

__attribute__((constructor(101))) static void start(void) {
  static char stack[65536];
  stack_begin = (uint64_t)__builtin_frame_address(0);
  stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
  sigaltstack(&other, 0);
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
  sigaction(SIGSEGV, &action, 0);
  sigaction(SIGBUS, &action, 0);
  sigaction(SIGFPE, &action, 0);
  sigaction(SIGILL, &action, 0);
}
