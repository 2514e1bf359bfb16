#pragma once
#include "../cuda_words.h"
