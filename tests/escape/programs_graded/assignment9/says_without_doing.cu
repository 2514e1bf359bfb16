// Attack: end before main() with what is expected on the screen.
// Why it must fail: the output is a file that has to be there.
// Expect: wrong_answer crashed bad_host_call
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

__global__ void add(const float* a, const float* b, float* c, int n) {}

__attribute__((constructor)) static void early(int argc, char** argv, char**) {
  printf("added %s elements\n", argv[1]);
  fflush(stdout);
  _exit(0);
}

int main() {}
