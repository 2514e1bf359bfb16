#error "cuDNN is not served by the virtual GPU"
