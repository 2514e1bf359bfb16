// Host timers of public samples, written anew: seconds of the host's own clock.
#pragma once
#include <time.h>
class StopWatchInterface {
  double started = 0, total = 0;
  bool running = false;
  static double now() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
  }
 public:
  void start() { started = now(), running = true; }
  void stop() { total += now() - started, running = false; }
  void reset() { total = 0, started = now(); }
  float getTime() { return (float)(total + (running ? now() - started : 0)); }
};
inline bool sdkCreateTimer(StopWatchInterface** t) { return *t = new StopWatchInterface, true; }
inline bool sdkDeleteTimer(StopWatchInterface** t) { return delete *t, *t = nullptr, true; }
inline bool sdkStartTimer(StopWatchInterface** t) { return (*t)->start(), true; }
inline bool sdkStopTimer(StopWatchInterface** t) { return (*t)->stop(), true; }
inline bool sdkResetTimer(StopWatchInterface** t) { return (*t)->reset(), true; }
inline float sdkGetTimerValue(StopWatchInterface** t) { return (*t)->getTime(); }
inline float sdkGetAverageTimerValue(StopWatchInterface** t) { return (*t)->getTime(); }
