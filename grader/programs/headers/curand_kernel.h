#error "cuRAND is not served by the virtual GPU"
