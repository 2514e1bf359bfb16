// Cooperative groups as the host sees them: names for signatures. Device code has the real ones.
#pragma once
#include "cuda_runtime.h"
namespace cooperative_groups {
struct thread_group {};
struct thread_block : thread_group {};
struct grid_group : thread_group {};
struct multi_grid_group : thread_group {};
struct coalesced_group : thread_group {};
struct cluster_group : thread_group {};
template <unsigned N, class Parent = void> struct thread_block_tile : thread_group {};
template <class T> struct plus;
template <class T> struct greater;
template <class T> struct less;
namespace details {}
}  // namespace cooperative_groups
