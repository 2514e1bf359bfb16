// Attack: a fork bomb.
// Why it must fail: each fork waits for permission, and a group over its limit is ended.
// Expect: odd
#include <unistd.h>

int main() {
  for (;;) fork();
}
