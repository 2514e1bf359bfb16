// cuBLAS: its types only.
#pragma once
#include "cublas_v2.h"
