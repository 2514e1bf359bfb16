// Attack: words of graphs that no header says: a branch that is gone before its graph ends, a status
//     that is none.
// Why it must fail: what a message raises that our runtime does not send ends the run, and so does
//     an answer that cannot be sent; neither is an error of the grader's.
// Expect: odd
#include <cstdint>
#include <host.h>

int main() {
  uint64_t n[2] = {}, r[16] = {};
  grade_call("graph branch", "program.cu", 1, n, 1, 0, 0, r, 0, 0);
  n[0] = r[0];
  grade_call("cudaStreamDestroy", "program.cu", 1, n, 1, 0, 0, 0, 0, 0);
  grade_call("graph end", "program.cu", 1, n, 2, 0, 0, 0, 0, 0);
  n[0] = ~0ull;
  grade_call("came to", "program.cu", 1, n, 2, "cudaGraphLaunch", 15, 0, 0, 0);
}
