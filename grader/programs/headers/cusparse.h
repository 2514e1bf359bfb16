#error "cuSPARSE is not served by the virtual GPU"
