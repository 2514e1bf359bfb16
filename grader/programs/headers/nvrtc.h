#error "NVRTC is not served by the virtual GPU"
