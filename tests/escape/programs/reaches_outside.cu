// Attack: read the expected outputs, the device's memory and the files of others; write outside and
//     into the program that is cached; open a socket; start a shell; stop or kill whom it can name.
// Why it must fail: the program runs in the same sandbox as every child: Landlock gives it the
//     toolkit, itself (to read) and its own directory, seccomp neither sockets nor signals to others.
// Expect: exited
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void got(const char* what, long result) {
  if (result >= 0) printf("GOT %s\n", what);
}

int main(int count, char** words) {
  (void)count;
  std::string canary = words[1], parent = "/proc/" + std::string(words[2]);
  std::string device = "/proc/" + std::to_string(getppid());
  got("canary", open(canary.c_str(), O_RDONLY));
  got("canary to write", open(canary.c_str(), O_WRONLY | O_TRUNC));
  got("canary to truncate", truncate(canary.c_str(), 0));
  got("canary to unlink", unlink(canary.c_str()));
  got("canary to chmod", chmod(canary.c_str(), 0666));
  for (const char* path : {"/etc/passwd", "/root", "/", "/proc/1/environ", "/proc/self/mem"})
    got(path, open(path, O_RDONLY));
  for (const char* file : {"/mem", "/environ", "/maps", "/fd", "/cmdline"}) {
    got(("parent's" + std::string(file)).c_str(), open((parent + file).c_str(), O_RDONLY));
    got(("device's" + std::string(file)).c_str(), open((device + file).c_str(), O_RDWR));
    got(("device's" + std::string(file)).c_str(), open((device + file).c_str(), O_RDONLY));
  }
  for (const char* path : {"/tmp/grade-escaped", "/dev/shm/grade-escaped", "/var/tmp/grade-escaped"})
    got(path, open(path, O_WRONLY | O_CREAT, 0600));
  if (count > 3) got("itself to write", open(words[3], O_WRONLY));
  got("link", symlink(canary.c_str(), "c.bin"));
  got("fifo", mkfifo("pipe.bin", 0600));
  for (int family : {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK})
    got("socket", socket(family, SOCK_STREAM, 0));
  got("ptrace of the device", ptrace(PTRACE_ATTACH, getppid(), 0, 0));
  got("traceme", ptrace(PTRACE_TRACEME, 0, 0, 0));
  char byte;
  long there[2] = {(long)&byte, 1};
  got("memory of the device", syscall(SYS_process_vm_readv, getppid(), there, 1, there, 1, 0));
  // In a namespace of its own the very number may be the device's.
  if (atoi(words[2]) != getppid()) got("signal to the parent", kill(atoi(words[2]), 0));
  got("signal to all", kill(-1, 0));
  got("signal to the group", kill(0, 0));
  got("signal to init", kill(1, 0));
  got("memfd", syscall(SYS_memfd_create, "x", 0));
  got("io_uring", syscall(SYS_io_uring_setup, 8, 0));
  got("userfaultfd", syscall(SYS_userfaultfd, 0));
  got("inotify", syscall(SYS_inotify_init1, 0));
  got("session", setsid());
  if (system("echo GOT a shell") == 0) printf("GOT a shell\n");
  // Descriptors: the three standard ones and the two that the runtime speaks through.
  for (int fd = 3; fd < 1024; fd++)
    if (fd != 100 && fd != 101 && fcntl(fd, F_GETFD) >= 0) {
      char where[64], target[256] = "";
      snprintf(where, sizeof where, "/proc/self/fd/%d", fd);
      if (readlink(where, target, sizeof target - 1) < 0) strcpy(target, "?");
      // What it opened above and got is told there; a kept descriptor is loot of its own.
      printf("GOT descriptor %d %s\n", fd, target);
    }
  extern char** environ;
  for (char** e = environ; *e; e++)
    if (strstr(*e, "hunter2")) printf("GOT %s\n", *e);
  printf("still here\n");
}
