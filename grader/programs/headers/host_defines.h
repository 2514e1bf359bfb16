// Types that CUDA headers take from here.
#pragma once
#include "cuda_words.h"
