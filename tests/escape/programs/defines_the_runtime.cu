// Attack: put functions of its own in the place of the runtime's, so that no call is seen.
// Why it must fail: the linker refuses a second definition.
// Expect: build_failed
#include <cstdint>

extern "C" int grade_call(const char*, const char*, int, const uint64_t*, int, const void*, size_t,
                          uint64_t*, void*, size_t) {
  return 0;
}

int main() {}
