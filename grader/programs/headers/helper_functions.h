// The host helpers of public samples that are served: timers, flags, comparison.
#pragma once
#include <helper_string.h>
#include <helper_timer.h>
#include <math.h>
#include <stdio.h>
inline bool sdkCompareL2fe(const float* reference, const float* data, unsigned n, float epsilon) {
  double error = 0, norm = 0;
  for (unsigned k = 0; k < n; ++k) {
    double d = reference[k] - data[k];
    error += d * d, norm += (double)reference[k] * reference[k];
  }
  return norm > 0 && sqrt(error / norm) < epsilon;
}
template <class T>
inline bool sdkWriteFile(const char* name, const T* data, unsigned n, float, bool) {
  FILE* file = fopen(name, "w");
  if (!file) return false;
  for (unsigned k = 0; k < n; ++k) fprintf(file, "%g ", (double)data[k]);
  return fclose(file) == 0;
}
inline bool compareData(const float* reference, const float* data, unsigned n, float epsilon,
                        float threshold) {
  unsigned wrong = 0;
  for (unsigned k = 0; k < n; ++k) wrong += !(fabsf(reference[k] - data[k]) <= epsilon);
  return wrong <= threshold * n;
}
