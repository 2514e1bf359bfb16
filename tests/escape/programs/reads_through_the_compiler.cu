// Attack: make the host's compiler put a file into the program, or into a message.
// Why it must fail: it runs where such files cannot be opened.
// Expect: build_failed
#include "/etc/passwd"
__asm__(".incbin \"/etc/passwd\"");

int main() {}
