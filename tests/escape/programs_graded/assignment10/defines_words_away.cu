// Attack: define the words that the harness is written in.
// Why it must fail: it can only break its own program: nothing in that process judges.
// Expect: build_failed wrong_answer crashed bad_host_call
extern "C" void solve(const float* x, float* y, int n) {}
#define static_assert(...) struct nothing
#define grade_call(...) 0
#define solve(...) (void)0
#define atoll(...) 0
