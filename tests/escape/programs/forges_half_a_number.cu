// Attack: name half a stream to a branch of a graph.
// Why it must fail: what a message raises that our runtime does not send ends the run, not its reader.
// Expect: odd
#include <host.h>

int main() {
  grade_call("graph branch", "program.cu", 1, 0, 0, "123", 3, 0, 0, 0);
}
