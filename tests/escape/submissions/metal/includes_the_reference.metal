// Attack: include the reference kernel that lies in the grader's checkout.
// Why it must fail: the compiler runs where no such file can be opened.
// Expect: build_failed

#include "../../../../reference/assignment3/kernel.metal"
