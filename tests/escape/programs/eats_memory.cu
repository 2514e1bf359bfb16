// Attack: take all memory.
// Why it must fail: the resident size of the group is watched.
// Expect: memory
#include <cstdlib>
#include <cstring>

int main() {
  for (;;) {
    char* volatile more = (char*)malloc(64 << 20);
    memset(more, 1, 64 << 20);
  }
}
