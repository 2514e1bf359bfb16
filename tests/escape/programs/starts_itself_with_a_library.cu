// Attack: write a library, and start itself again with LD_PRELOAD and a record of its own calls.
// Why it must fail: it may replace what it likes in itself: the device is another process, and
//     nothing that it wrote can be executed as a program.
// Expect: exited
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

int main(int count, char** words) {
  if (getenv("AGAIN")) {
    printf("again\n");
    return 0;
  }
  int file = open("copy", O_CREAT | O_WRONLY, 0755);
  write(file, "#!/bin/sh\necho GOT a script\n", 28);
  close(file);
  execl("./copy", "./copy", (char*)0);
  char* environment[] = {(char*)"AGAIN=1", (char*)"LD_PRELOAD=./evil.so", 0};
  execve(words[3], words, environment);
  printf("held\n");
}
