// Attack: end with status 0 before main(), and again from a handler at the end.
// Why it must fail: what counts is what the device holds and the files that are there.
// Expect: exited
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

struct Early {
  Early() {
    atexit([] { _exit(0); });
    printf("added everything\n");
    fflush(stdout);
    exit(0);
  }
} early;

int main() {}
