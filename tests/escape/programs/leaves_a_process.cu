// Attack: leave a process behind that holds the outputs open and goes on after the verdict.
// Why it must fail: the group is killed when the device's process has answered.
// Expect: exited
#include <cstdio>
#include <unistd.h>

int main() {
  if (fork() == 0) {
    sleep(1000);
    return 3;
  }
  printf("done\n");
}
