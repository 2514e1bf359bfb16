// Device code only: nothing for the host.
#pragma once
#include "cuda_runtime.h"
