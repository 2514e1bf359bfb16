// Attack: a main() and a harness of its own in the place of ours.
// Why it must fail: ours is compiled behind it, and two of one name do not build.
// Expect: build_failed
#undef main
namespace grade {
static void* given(const char*) { return nullptr; }
}
extern "C" void solve(const float* x, float* y, int n) {}
int main() { return 0; }
