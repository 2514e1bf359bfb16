// The host helpers of public samples that are served, written anew: timers, flags, comparison, text
// files of numbers, grey images.
#pragma once
#include <helper_string.h>
#include <helper_timer.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
// A copy of the path under which the file lies, beside the program or in `data/`; null without one.
inline char* sdkFindFilePath(const char* name, const char*) {
  const char* const folders[] = {"", "data/"};
  for (const char* folder : folders) {
    char* path = (char*)malloc(strlen(folder) + strlen(name) + 1);
    strcpy(path, folder), strcat(path, name);
    if (FILE* file = fopen(path, "rb")) return fclose(file), path;
    free(path);
  }
  return nullptr;
}
// The numbers of a text file; `*data` is allocated where it is null.
template <class T>
inline bool sdkReadFile(const char* name, T** data, unsigned* count, bool) {
  FILE* file = fopen(name, "r");
  if (!file) return false;
  unsigned n = 0, room = 16;
  T* found = (T*)malloc(room * sizeof(T));
  for (double value; fscanf(file, "%lf", &value) == 1; found[n++] = (T)value)
    if (n == room) found = (T*)realloc(found, (room *= 2) * sizeof(T));
  fclose(file);
  if (*data) {
    memcpy(*data, found, MIN(n, *count) * sizeof(T));
    free(found);
  } else {
    *data = found;
  }
  *count = n;
  return true;
}
// A grey image of 8 bits, "P5"; floats stand for 0 to 1.
namespace grade {
inline float from_byte(float, unsigned char v) { return v / 255.0f; }
inline unsigned char from_byte(unsigned char, unsigned char v) { return v; }
inline unsigned char to_byte(float v) { return (unsigned char)(v * 255.0f); }
inline unsigned char to_byte(unsigned char v) { return v; }
// A number of the head of such a file, behind any comments.
inline bool head_number(FILE* file, unsigned* value) {
  char comment[256];
  while (fscanf(file, " %255[#]%*[^\n]", comment) == 1) {}
  return fscanf(file, "%u", value) == 1;
}
}  // namespace grade
template <class T>
inline bool sdkLoadPGM(const char* name, T** data, unsigned* width, unsigned* height) {
  FILE* file = fopen(name, "rb");
  if (!file) return false;
  unsigned most = 0;
  bool ok = fgetc(file) == 'P' && fgetc(file) == '5' && grade::head_number(file, width) &&
            grade::head_number(file, height) && grade::head_number(file, &most) &&
            fgetc(file) != EOF;
  size_t n = ok ? (size_t)*width * *height : 0;
  if (ok && !*data) *data = (T*)malloc(n * sizeof(T));
  for (size_t k = 0; ok && k < n; ++k) {
    int v = fgetc(file);
    ok = v != EOF;
    (*data)[k] = grade::from_byte(T(), (unsigned char)v);
  }
  fclose(file);
  return ok;
}
template <class T>
inline bool sdkSavePGM(const char* name, T* data, unsigned width, unsigned height) {
  FILE* file = fopen(name, "wb");
  if (!file) return false;
  fprintf(file, "P5\n%u %u\n255\n", width, height);
  for (size_t k = 0; k < (size_t)width * height; ++k) fputc(grade::to_byte(data[k]), file);
  return fclose(file) == 0;
}
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
template <class T, class E>
inline bool compareData(const T* reference, const T* data, unsigned n, E epsilon,
                        float threshold) {
  unsigned wrong = 0;
  for (unsigned k = 0; k < n; ++k)
    wrong += !(fabs((double)reference[k] - (double)data[k]) <= (double)epsilon);
  return wrong <= threshold * n;
}
