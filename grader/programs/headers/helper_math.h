// Arithmetic of short vectors: the same text for the host as for the device.
#pragma once
#include "cuda_runtime.h"
#include "../../languages/cuda_host_headers/helper_math.h"
