// Attack: calls that no header makes: unknown names, missing numbers, lines and files of others.
// Why it must fail: a call that makes no sense ends the run; a line only ever points into the
//     program's own text.
// Expect: odd
#include <cstdint>
#include <host.h>

int main() {
  uint64_t n[16] = {~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull};
  for (int line = 0; line < 3000; line++)
    grade_call("cudaFree", "/etc/passwd", line, n, 1, 0, 0, 0, 0, 0);
  grade_call("verdict", "accepted", -1, n, 8, "accepted", 8, 0, 0, 0);
  grade_call("cudaMemcpy", "program.cu", 1, n, 0, 0, 0, 0, 0, 0);
}
