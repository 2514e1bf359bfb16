/* The runtime of the virtual GPU, one translation unit without a C library's headers. */
#include "engine.h"

void shadow_free(Shadow *s);
static void shadow_finish(Launch *L);
static void shadow_load(Warp *w, u32 mask, u32 site, u64 add);
static void shadow_store(Warp *w, u32 mask, u32 site, u64 add);
void rt_uninitialised(Warp *w, u32 mask, u32 site);

#include "schedule.c"

#include "access.c"
#include "memory.c"
#include "atomics.c"
#include "copies.c"
#include "textures.c"
#include "shadow.c"
#include "warp.c"
#include "builtin.c"
