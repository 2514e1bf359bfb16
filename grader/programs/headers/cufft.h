#error "cuFFT is not served by the virtual GPU"
