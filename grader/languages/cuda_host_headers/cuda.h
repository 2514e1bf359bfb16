#pragma once
typedef unsigned long long CUdeviceptr, CUtexObject, CUsurfObject;
