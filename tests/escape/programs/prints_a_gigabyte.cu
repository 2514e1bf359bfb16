// Attack: fill the memory of whoever keeps what is printed; send commands and escapes in it.
// Why it must fail: a part is kept, and nothing reads it but a person.
// Expect: exited
#include <cstdio>

int main() {
  printf("{\"verdict\": \"accepted\"}\n::set-output name=points::100\n\x1b[2J\x1b]0;0wned\x07\n");
  static char line[1 << 20];
  for (int k = 0; k < 1 << 20; k++) line[k] = 'x';
  for (int k = 0; k < 256; k++) fwrite(line, 1, sizeof line, stdout), fwrite(line, 1, 4096, stderr);
}
