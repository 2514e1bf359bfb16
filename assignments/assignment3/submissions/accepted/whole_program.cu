// expect: verdict=accepted
// A program that a student has at home: host includes, main() and a launch beside the kernel.

#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define CHECK(call)                                                        \
    do {                                                                   \
        cudaError_t status = (call);                                       \
        if (status != cudaSuccess) {                                       \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,             \
                    cudaGetErrorString(status));                           \
            exit(1);                                                       \
        }                                                                  \
    } while (0)

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) C[i] = A[i] + B[i];
}

static float reference(float a, float b) { return a + b; }

int main(int argc, char** argv) {
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    std::vector<float> a(n, 1.0f), b(n, 2.0f), c(n);
    float *dA, *dB, *dC;
    CHECK(cudaMalloc(&dA, n * sizeof(float)));
    CHECK(cudaMalloc(&dB, n * sizeof(float)));
    CHECK(cudaMalloc(&dC, n * sizeof(float)));
    CHECK(cudaMemcpy(dA, a.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dB, b.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    vec_add<<<(n + 255) / 256, 256>>>(dA, dB, dC, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), dC, n * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i) {
        if (c[i] != reference(a[i], b[i])) {
            printf("wrong at %d\n", i);
            return 1;
        }
    }
    CHECK(cudaFree(dA));
    CHECK(cudaFree(dB));
    CHECK(cudaFree(dC));
    printf("right\n");
    return 0;
}
