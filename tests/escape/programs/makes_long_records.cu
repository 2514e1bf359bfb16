// Attack: calls, files and kernels with names of kilobytes, so many that no answer holds them.
// Why it must fail: what is kept of calls has a size, and a finding is cut.
// Expect: exited
#include <cstdint>
#include <cstring>
#include <host.h>

static char text[4096], words[1 << 16];

int main() {
  memset(text, 0xff, sizeof text - 1);
  memset(words, 0xff, sizeof words);
  uint64_t n[16] = {1, 1, 1, 1, 1, 1};
  for (int line = 1; line < 600; line++) {
    grade_call("cudaGetLastError", text, line, n, 0, 0, 0, 0, 0, 0);
    grade_call("<<<>>>", "program.cu", line, n, 8, words, sizeof words, 0, 0, 0);
    grade_call("cudaMemcpyToSymbol", text, line, n, 3, words, sizeof words, 0, 0, 0);
  }
}
