#error "the driver API is not served by the virtual GPU"
