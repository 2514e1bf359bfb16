// What the headers call of host.c.
#pragma once
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
int grade_call(const char* name, const char* file, int line, const uint64_t* numbers, int count,
               const void* payload, size_t bytes, uint64_t* results, void* back, size_t room);
const char* grade_text(const char* name, int code);
const char* grade_kernel(const void* stub);
const char* grade_variable(const void* shadow);
void* grade_share(uint64_t address, size_t bytes, int managed);
void grade_unshare(uint64_t address);
int grade_is_shared(const void* address);
void* grade_close(const void* address);
int grade_register(void* base, size_t bytes, uint64_t device);
void grade_unregister(const void* base);
void* grade_device_pointer(const void* address);
void* grade_host_pointer(const void* address);
#ifdef __cplusplus
}
#endif
