// Attack: an output file of a gigabyte of nothing, so that whoever reads it runs out of memory or
//     gives up, and the fault seems the grader's.
// Why it must fail: no more of it is read than a part, and its size is wrong.
// Expect: exited
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

int main() {
  int file = open("c.bin", O_CREAT | O_RDWR, 0600);
  if (ftruncate(file, 1000 << 20)) return 1;
  printf("made\n");
}
