// Attack: kill the process that keeps the device's records, so that nobody counts what was done.
// Why it must fail: without that process there is no answer, and no answer earns nothing.
// Expect: odd
#include <csignal>
#include <unistd.h>

int main() {
  kill(getppid(), SIGKILL);
  pause();
}
