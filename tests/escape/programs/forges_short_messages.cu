// Attack: messages that lack what ours have: a death and a touch without an address.
// Why it must fail: a message that makes no sense ends the run, not its reader.
// Expect: odd
#include <cstdint>
#include <unistd.h>

int main() {
  struct {
    uint32_t name_bytes, file_bytes, line, numbers;
    uint64_t payload_bytes;
    char name[7];
  } message = {7, 0, 1, 0, 0, {'t', 'o', 'u', 'c', 'h', 'e', 'd'}};
  write(100, &message, 24 + 7);
  pause();
}
