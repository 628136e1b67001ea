/* The first process of a pod: it waits until it is told to end, and collects the exit codes of processes whose parents ended. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void end(int number) {
  (void)number;
  _exit(0);
}

static void collect(int number) {
  (void)number;
  while (waitpid(-1, NULL, WNOHANG) > 0) {
  }
}

int main(void) {
  struct sigaction ending = {.sa_handler = end};
  struct sigaction collecting = {.sa_handler = collect, .sa_flags = SA_NOCLDSTOP};
  sigaction(SIGINT, &ending, NULL);
  sigaction(SIGTERM, &ending, NULL);
  sigaction(SIGCHLD, &collecting, NULL);
  for (;;) pause();
}
