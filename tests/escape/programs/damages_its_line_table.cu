// Attack: debug information that is no such thing, for the device's process to stumble over.
// Why it must fail: a damaged table is an empty one; and lines are only words in a message.
// Expect: exited
#include <cstdio>

__asm__(".pushsection .debug_line,\"\",@progbits\n"
        ".long 20\n.short 4\n.long 0xfffffff0\n.byte 1,1,1,0,0,255\n.zero 300\n"
        ".long 0x7fffffff\n.short 3\n.byte 255\n.popsection\n");

int main() {
  int* x;
  cudaMalloc(&x, 64);
  cudaFree(x);
  printf("done\n");
}
