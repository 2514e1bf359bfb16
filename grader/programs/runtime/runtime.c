// The runtime of a host program, one translation unit.
#include "host.c"
#include "ending.c"
#include "transfers.c"
#include "graphs.c"
#include "capture.c"
