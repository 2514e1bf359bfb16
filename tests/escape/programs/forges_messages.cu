// Attack: speak to the device in one's own words: lengths that are absurd, bytes that are noise.
// Why it must fail: lengths are checked before anything is read; noise ends the run.
// Expect: odd
#include <cstdint>
#include <unistd.h>

int main() {
  uint32_t head[6] = {64, 4096, 0, 1000000, 0xFFFFFFFF, 0xFFFFFFFF};
  write(100, head, sizeof head);
  for (int k = 0; k < 100; k++) write(100, head, sizeof head);
  pause();
}
