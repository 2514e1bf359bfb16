// CUB as the host sees it: algorithms of a block or a warp are device code, which is compiled with
// the real headers; those of a whole device would launch kernels of their own.
#pragma once
#include "cuda_runtime.h"
namespace cub {
struct GRADE_UNSERVED("CUB's device-wide part") DeviceReduce;
struct GRADE_UNSERVED("CUB's device-wide part") DeviceScan;
struct GRADE_UNSERVED("CUB's device-wide part") DeviceSelect;
struct GRADE_UNSERVED("CUB's device-wide part") DeviceHistogram;
struct GRADE_UNSERVED("CUB's device-wide part") DeviceRadixSort;
struct GRADE_UNSERVED("CUB's device-wide part") DeviceMergeSort;
struct GRADE_UNSERVED("CUB's device-wide part") DeviceSegmentedReduce;
struct GRADE_UNSERVED("CUB's device-wide part") DeviceSegmentedSort;
struct GRADE_UNSERVED("CUB's device-wide part") DeviceRunLengthEncode;
struct GRADE_UNSERVED("CUB's device-wide part") DevicePartition;
struct Sum {};
struct Max {};
struct Min {};
}  // namespace cub
