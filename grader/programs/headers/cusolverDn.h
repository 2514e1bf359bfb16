#error "cuSOLVER is not served by the virtual GPU"
