// Command-line flags of public samples: `-name` and `-name=value`, written anew.
#pragma once
#include <stdlib.h>
#include <string.h>
#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif
namespace grade {
inline const char* flag(int count, const char** words, const char* name) {
  size_t n = strlen(name);
  for (int k = 1; k < count; ++k) {
    const char* word = words[k];
    while (*word == '-') ++word;
    if (word != words[k] && !strncmp(word, name, n) && (!word[n] || word[n] == '=' || word[n] == ':'))
      return word[n] ? word + n + 1 : word + n;
  }
  return nullptr;
}
}  // namespace grade
inline bool checkCmdLineFlag(int count, const char** words, const char* name) {
  return grade::flag(count, words, name) != nullptr;
}
inline int getCmdLineArgumentInt(int count, const char** words, const char* name) {
  const char* value = grade::flag(count, words, name);
  return value ? atoi(value) : 0;
}
inline float getCmdLineArgumentFloat(int count, const char** words, const char* name) {
  const char* value = grade::flag(count, words, name);
  return value ? (float)atof(value) : 0.0f;
}
inline bool getCmdLineArgumentString(int count, const char** words, const char* name, char** out) {
  const char* value = grade::flag(count, words, name);
  *out = (char*)value;
  return value != nullptr;
}
