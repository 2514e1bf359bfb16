// Images of public samples: part of helper_functions.h here.
#pragma once
#include <helper_functions.h>
